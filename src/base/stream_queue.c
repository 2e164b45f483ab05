#include "base/stream_queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { QUEUE_SLOTS = 6, SLOT_BYTES = 512 * 1024 };

struct slot {
    unsigned char *data;
    size_t length;
};

struct stream_queue {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled;  /* a slot was filled, or the data ended */
    pthread_cond_t emptied; /* a slot was emptied, or the reader leaves */
    struct layer *top;
    struct slot slots[QUEUE_SLOTS];
    /* under lock */
    size_t fills, drains; /* slots ever filled and emptied; slot number modulo QUEUE_SLOTS */
    bool ended, leaving;
    int64_t status; /* once ended: 0 or the error code */
    struct err err;
    /* the reader's own */
    size_t pos;    /* within slot drains */
    bool has_slot; /* the reader holds slot drains */
};

/* Fills one slot as far as it goes. Returns the last result of the layer: > 0 if the slot is full. */
static int64_t slot_fill(struct stream_queue *queue, struct slot *slot, struct err *err)
{
    int64_t got = 1;
    for (slot->length = 0; slot->length < SLOT_BYTES && got > 0;) {
        got = queue->top->read(queue->top, slot->data + slot->length, SLOT_BYTES - slot->length, err);
        if (got > 0)
            slot->length += (size_t)got;
    }
    return got;
}

static void *queue_run(void *arg)
{
    struct stream_queue *queue = arg;
    struct err err = {0};
    for (bool running = true; running;) {
        pthread_mutex_lock(&queue->lock);
        while (queue->fills - queue->drains == QUEUE_SLOTS && !queue->leaving)
            pthread_cond_wait(&queue->emptied, &queue->lock);
        bool leaving = queue->leaving;
        struct slot *slot = &queue->slots[queue->fills % QUEUE_SLOTS];
        pthread_mutex_unlock(&queue->lock);
        if (leaving)
            break;

        int64_t got = slot_fill(queue, slot, &err);
        running = got > 0;

        pthread_mutex_lock(&queue->lock);
        queue->fills += slot->length > 0;
        if (!running) {
            queue->ended = true;
            queue->status = got;
            queue->err = err;
        }
        pthread_cond_signal(&queue->filled);
        pthread_mutex_unlock(&queue->lock);
    }
    return NULL;
}

/* Takes the next filled slot, or waits for it. False if there is none (yet). */
static bool slot_take(struct stream_queue *queue, bool wait)
{
    pthread_mutex_lock(&queue->lock);
    while (wait && queue->fills == queue->drains && !queue->ended)
        pthread_cond_wait(&queue->filled, &queue->lock);
    queue->has_slot = queue->fills != queue->drains;
    pthread_mutex_unlock(&queue->lock);
    queue->pos = 0;
    return queue->has_slot;
}

static void slot_return(struct stream_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->drains++;
    queue->has_slot = false;
    pthread_cond_signal(&queue->emptied);
    pthread_mutex_unlock(&queue->lock);
}

int64_t stream_queue_read(struct stream_queue *queue, void *buf, size_t size, struct err *err)
{
    size_t done = 0;
    /* Rather a short read now than a full one later: the reader works while the thread fills the next slot.
     */
    while (done < size && (queue->has_slot || slot_take(queue, done == 0))) {
        const struct slot *slot = &queue->slots[queue->drains % QUEUE_SLOTS];
        size_t part = slot->length - queue->pos;
        part = part < size - done ? part : size - done;
        memcpy((char *)buf + done, slot->data + queue->pos, part);
        done += part;
        queue->pos += part;
        if (queue->pos == slot->length)
            slot_return(queue);
    }
    if (done > 0)
        return (int64_t)done;
    if (queue->status < 0 && err)
        *err = queue->err;
    return queue->status;
}

/* The thread must not take the signals of the program: a terminal's Ctrl-C belongs to the main thread. */
static int thread_start(struct stream_queue *queue)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&queue->thread, NULL, queue_run, queue);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static void queue_release(struct stream_queue *queue)
{
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->filled);
    pthread_cond_destroy(&queue->emptied);
    for (int i = 0; i < QUEUE_SLOTS; i++)
        free(queue->slots[i].data);
    free(queue);
}

struct stream_queue *stream_queue_new(struct layer *top)
{
    struct stream_queue *queue = mem_zalloc(1, sizeof *queue);
    queue->top = top;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    pthread_cond_init(&queue->emptied, NULL);
    for (int i = 0; i < QUEUE_SLOTS; i++)
        queue->slots[i].data = mem_alloc(SLOT_BYTES);
    if (thread_start(queue) == 0)
        return queue;
    queue_release(queue);
    return NULL;
}

void stream_queue_free(struct stream_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->leaving = true;
    pthread_cond_signal(&queue->emptied);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    queue_release(queue);
}
