/* Nsight Compute reports: state shared by the readers of blocks and of results. Format: doc/formats/ncu.md.
 */
#ifndef WARPLIGHT_IMPORT_NCU_REP_H
#define WARPLIGHT_IMPORT_NCU_REP_H

#include "base/proto.h"
#include "import/profiles.h"

/* A function in a code image, where it lay in the GPU's memory. */
struct rep_function {
    uint64_t address;
    uint32_t name;  /* mangled */
    uint32_t image; /* run->images; NONE */
};

struct ncu_rep {
    struct run *run;
    struct profiles profiles;
    uint32_t source;
    uint32_t process;    /* of the block; NONE */
    VEC(uint32_t) names; /* the report's table of metric names */
    VEC(struct rep_function) functions;
    size_t sorted;        /* so many functions are sorted by address */
    VEC(int64_t) devices; /* ids that the session describes */
    int64_t unnamed;      /* metrics whose name is not in the table */
};

/* A launch and all that was measured of it. False if the message is damaged; what came before is kept. */
bool ncu_rep_result(struct ncu_rep *rep, const void *data, size_t length);

#endif
