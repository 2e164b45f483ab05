/* What the files of a machine say: one line for each check, "STATUS ID TITLE". Nothing but files is asked.
 *
 *     setup ROOT [PROGRAM] */
#include <stdio.h>

#include "analyze/setup.h"
#include "source/setup.h"

int main(int argc, char **argv)
{
    struct setup s;
    struct diagnosis d = {0};
    if (argc < 2)
        return 2;
    setup_init(&s);
    setup_read(&s, &(struct setup_question){.root = argv[1], .program = argc > 2 ? argv[2] : NULL});
    setup_diagnose(&d, &s);
    vec_each (&d.checks, check)
        printf("%s %s %s\n", check_status_name(check->status), check->id, check->title.plain);
    diagnosis_release(&d);
    setup_release(&s);
    return 0;
}
