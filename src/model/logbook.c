#include "model/logbook.h"

#include <string.h>

enum { HOSTS_MAX = 64 };

void logbook_release(struct logbook *book)
{
    vec_release(&book->sightings);
    vec_release(&book->sources);
    vec_release(&book->hosts);
    map_release(&book->by_key);
    arena_release(&book->arena);
}

static char *keep(struct logbook *book, const char *text)
{
    return text ? arena_text(&book->arena, text, strnlen(text, LOGBOOK_TEXT_MAX)) : NULL;
}

static uint64_t key_of(const struct sighting *found)
{
    uint64_t id = hash_bytes(found->id, strlen(found->id));
    uint64_t device = found->device ? hash_bytes(found->device, strlen(found->device)) : 0;
    return hash_pair(hash_pair(id, device), (uint64_t)found->is_consequence * 2 + found->is_mild);
}

static struct sighting *add_new(struct logbook *book, const struct sighting *found, uint64_t key)
{
    if (book->sightings.count >= LOGBOOK_SIGHTINGS_MAX) {
        book->left_out++;
        return NULL;
    }
    map_set(&book->by_key, key, (uint32_t)book->sightings.count);
    struct sighting *sighting = vec_new(&book->sightings);
    *sighting = *found;
    sighting->id = keep(book, found->id);
    sighting->device = keep(book, found->device);
    sighting->process = keep(book, found->process);
    sighting->first = sighting->last = keep(book, found->first);
    sighting->last_ns = found->first_ns;
    sighting->events = (struct burst){0};
    sighting->lines = 0;
    sighting->place_count = 0;
    return sighting;
}

void logbook_add(struct logbook *book, const struct sighting *found, const struct place *place)
{
    uint64_t key = key_of(found);
    uint32_t index = map_get(&book->by_key, key);
    struct sighting *sighting = index == MAP_ABSENT ? add_new(book, found, key) : &book->sightings.at[index];
    if (!sighting)
        return;
    burst_add(&sighting->events, found->first_ns, found->is_part);
    if (sighting->lines++ > 0 && found->first) {
        /* The latest time is kept in place: a log may repeat an event a million times. */
        size_t room = sighting->last ? strlen(sighting->last) : 0,
               length = strnlen(found->first, LOGBOOK_TEXT_MAX);
        if (sighting->last && sighting->last != sighting->first && length <= room)
            memcpy(sighting->last, found->first, length + 1);
        else
            sighting->last = keep(book, found->first);
        sighting->last_ns = found->first_ns;
    }
    if (!sighting->process)
        sighting->process = keep(book, found->process);
    sighting->source = found->source;
    if (sighting->place_count < SIGHTING_PLACES)
        sighting->places[sighting->place_count++] =
            (struct place){keep(book, place->file), place->line, keep(book, place->text)};
}

const struct sighting *logbook_find(const struct logbook *book, const char *id)
{
    vec_each (&book->sightings, sighting)
        if (strcmp(sighting->id, id) == 0)
            return sighting;
    return NULL;
}

void logbook_host(struct logbook *book, const char *name, size_t length)
{
    enum { NAME_MAX_BYTES = 64 };
    if (length < 2 || length > NAME_MAX_BYTES || book->hosts.count >= HOSTS_MAX)
        return;
    vec_each (&book->hosts, host)
        if (strlen(*host) == length && memcmp(*host, name, length) == 0)
            return;
    vec_push(&book->hosts, arena_text(&book->arena, name, length));
}
