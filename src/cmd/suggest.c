#include "cmd/suggest.h"

#include <limits.h>
#include <string.h>

enum { MAX_LENGTH = 63 };

static int min3(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

int suggest_distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    if (m > MAX_LENGTH || n > MAX_LENGTH)
        return INT_MAX;
    int rows[3][MAX_LENGTH + 1];
    int *above2 = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n; j++)
        above[j] = above2[j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && above2[j - 2] + 1 < row[j])
                row[j] = above2[j - 2] + 1;
        }
        int *oldest = above2;
        above2 = above;
        above = row;
        row = oldest;
    }
    return above[n];
}

void suggest_offer(struct suggestion *best, const char *typed, const char *candidate)
{
    size_t length = strlen(typed);
    int distance = suggest_distance(typed, candidate);
    int limit = length < 4 ? 1 : (int)(length + 2) / 3;
    /* A beginning that was not finished ("--form", "idle-lanch") is meant, however much is missing. */
    for (size_t cut = length; length >= 3 && length <= MAX_LENGTH && cut <= length + 1; cut++) {
        char beginning[MAX_LENGTH + 2] = "";
        if (strlen(candidate) <= cut)
            break;
        memcpy(beginning, candidate, cut);
        int unfinished = 1 + suggest_distance(typed, beginning);
        distance = unfinished < distance ? unfinished : distance;
    }
    if (distance <= limit && (!best->text || distance < best->distance)) {
        best->text = candidate;
        best->distance = distance;
    }
}
