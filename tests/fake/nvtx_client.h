/* What the header of NVTX 3 does in an application: it loads the library that NVTX_INJECTION64_PATH names and
 * lets it fill in function pointers. Without one, calls do nothing. */
#ifndef WARPLIGHT_TESTS_FAKE_NVTX_CLIENT_H
#define WARPLIGHT_TESTS_FAKE_NVTX_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

struct nvtx_event { /* nvtxEventAttributes_t, version 3 */
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type; /* 1 ASCII, 2 wide, 3 registered */
    const void *message;
};

struct nvtx_payload { /* nvtxPayloadData_t */
    uint64_t schema;
    size_t size;
    const void *data;
};

extern void (*nvtx_mark_ex)(const struct nvtx_event *event);
extern uint64_t (*nvtx_start_ex)(const struct nvtx_event *event);
extern uint64_t (*nvtx_start_a)(const char *message);
extern void (*nvtx_end)(uint64_t id);
extern void (*nvtx_name_category_a)(uint32_t category, const char *name);
extern void (*nvtx_name_thread_a)(uint32_t thread, const char *name);
extern uint64_t (*nvtx_schema_register)(void *domain, const void *attributes);
extern int (*nvtx_pop_payload)(void *domain, const struct nvtx_payload *payloads, size_t count);
extern int (*nvtx_push_ex)(const struct nvtx_event *event);
extern int (*nvtx_push_a)(const char *message);
extern int (*nvtx_push_w)(const wchar_t *message);
extern int (*nvtx_pop)(void);
extern int (*nvtx_domain_push_ex)(void *domain, const struct nvtx_event *event);
extern int (*nvtx_domain_pop)(void *domain);
extern void *(*nvtx_domain_create_a)(const char *name);
extern void *(*nvtx_domain_register_string_a)(void *domain, const char *text);

/* Returns whether a library took the pointers. */
int nvtx_load(void);
struct nvtx_event nvtx_message(int type, const void *message);
/* Ranges of all sorts, with the levels that they must return. Returns how many were wrong. */
int nvtx_play(void);
/* Ranges that overlap and end elsewhere, marks, categories, payloads and names; one range stays open. Returns
 * how many results were wrong. */
int nvtx_play_all(void);
/* The ranges that NCCL makes: an all-reduce in a group around a launch. */
int nvtx_play_nccl(void (*launch)(void));
/* Ranges of this name on each of a number of threads. */
void nvtx_play_threads(int threads, int ranges);

#endif
