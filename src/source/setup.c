#include "source/setup.h"

#include <stdlib.h>

void setup_read(struct setup *s, const struct setup_question *question)
{
    const char *root = question->root ? question->root : getenv("WARPLIGHT_ROOT");
    s->root = root ? setup_text(s, root) : "";
    s->pid = question->pid;
    s->program = question->program ? setup_text(s, question->program) : "";
    setup_read_process(s);
    setup_read_kernel(s);
    setup_read_pci(s);
    setup_read_nodes(s);
    setup_read_owners(s);
    setup_read_software(s);
}
