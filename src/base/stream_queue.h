/* Internal to stream.c: runs a stack of layers on a second thread, a bounded number of buffers ahead of the
 * reader. One producer (the thread), one consumer (the caller). */
#ifndef WARPLIGHT_BASE_STREAM_QUEUE_H
#define WARPLIGHT_BASE_STREAM_QUEUE_H

#include "base/stream_layer.h"

struct stream_queue;

/* Starts the thread. From here to stream_queue_free() nobody else may touch the layers. NULL if the system
 * gives no thread; the caller then reads the layers itself. */
struct stream_queue *stream_queue_new(struct layer *top);
/* Like struct layer's read. Once it has returned 0 or an error the thread touches the layers no more. */
int64_t stream_queue_read(struct stream_queue *queue, void *buf, size_t size, struct err *err);
/* Ends the thread and joins it. Whoever can block the lowest layer must have unblocked it before. */
void stream_queue_free(struct stream_queue *queue);

#endif
