/* "Did you mean …?" */
#ifndef WARPLIGHT_CMD_SUGGEST_H
#define WARPLIGHT_CMD_SUGGEST_H

/* Number of single-character insertions, deletions, substitutions and swaps of neighbours that turn a into b
 * (optimal string alignment). Texts longer than 63 bytes count as infinitely far. */
int suggest_distance(const char *a, const char *b);

/* The closest candidate so far; start zeroed. */
struct suggestion {
    const char *text; /* NULL: nothing is close enough to be meant */
    int distance;
};
void suggest_offer(struct suggestion *best, const char *typed, const char *candidate);

#endif
