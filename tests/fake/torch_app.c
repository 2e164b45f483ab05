/* A program of PyTorch's: loads the stand-in that FAKE_TORCH names, starts CUDA, and runs operators.
 *
 *   torch_app OPERATORS [how]: step (default), late (PyTorch is loaded after CUDA was started), bare
 *   (without PyTorch), threads, cross, fork, leave (while threads work), daemon, obey (each line of the
 *   input is how many callbacks PyTorch must have before the next operators) */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FUNCTION = 0, BACKWARD = 1, BUILD_FEATURE = 5, USER = 7 };

static void *(*begin)(const char *name, int scope, int async);
static void (*end)(void *function);
static size_t (*callbacks)(void);
static void (*launch)(const char *name, uint64_t ns);

static int load_torch(void)
{
    void *torch = dlopen(getenv("FAKE_TORCH"), RTLD_NOW | RTLD_LOCAL);
    if (!torch)
        return -1;
    *(void **)&begin = dlsym(torch, "fake_torch_begin");
    *(void **)&end = dlsym(torch, "fake_torch_end");
    *(void **)&callbacks = dlsym(torch, "fake_torch_callbacks");
    return begin && end && callbacks ? 0 : -1;
}

static void initialize_cuda(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *injected = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void) = NULL;
    if (injected)
        *(void **)&initialize = dlsym(injected, "InitializeInjection");
    if (initialize)
        initialize();
    void *cupti = dlopen(getenv("WARPLIGHT_CUPTI"), RTLD_NOW | RTLD_NOLOAD);
    if (cupti)
        *(void **)&launch = dlsym(cupti, "fake_launch");
}

static void pause_ms(long ms)
{
    struct timespec pause = {.tv_nsec = ms * 1000000};
    nanosleep(&pause, NULL);
}

/* As a training step nests them, with a kernel in the innermost. */
static void step(long count)
{
    for (long i = 0; i < count; i++) {
        void *user = begin("Optimizer.step#SGD.step", USER, 0);
        void *outer = begin("aten::linear", FUNCTION, 0);
        void *inner = begin("aten::addmm", FUNCTION, 0);
        if (launch)
            launch("gemm", 1000);
        end(inner);
        end(outer);
        end(user);
        end(begin("a build feature", BUILD_FEATURE, 0));
    }
}

/* As autograd's threads do. */
static void *backward(void *count)
{
    for (long i = 0; i < *(long *)count; i++) {
        void *node = begin("MmBackward0", BACKWARD, 0);
        end(begin("aten::mm", FUNCTION, 0));
        end(node);
    }
    return NULL;
}

static void *work_for_ever(void *unused)
{
    static long some = 10;
    (void)unused;
    for (;;) { /* without the pause, more operators than anyone can take away */
        backward(&some);
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return NULL;
}

static void *end_it(void *function)
{
    end(function);
    return NULL;
}

/* ---- ways to behave --------------------------------------------------------------------------------------
 */

static int run_threads(long count)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS], other;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, backward, &count) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    /* Ranges that are nobody's time, more than are remembered; around one that is. */
    void *around = begin("around", USER, 0);
    for (int i = 0; i < 100; i++) {
        void *elsewhere = begin("ends elsewhere", USER, i % 2);
        if (pthread_create(&other, NULL, end_it, elsewhere) != 0)
            return 1;
        pthread_join(other, NULL);
    }
    end(begin("async", USER, 1));
    end(around);
    return 0;
}

/* Out of order, as with record_function() in coroutines. */
static int cross(long count)
{
    for (long i = 0; i < count; i++) {
        void *first = begin("first", USER, 0);
        void *second = begin("second", USER, 0);
        end(first);
        end(second);
    }
    return 0;
}

static int fork_workers(long count)
{
    enum { CHILDREN = 20 };
    pthread_t thread;
    int failed = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&thread, NULL, work_for_ever, NULL);
    for (int i = 0; i < CHILDREN; i++) {
        void *open = begin("around the fork", USER, 0);
        pid_t child = fork();
        if (child == 0) {
            end(open);
            exit(0);
        }
        end(open);
        int status = 1;
        waitpid(child, &status, 0);
        failed += status != 0;
    }
    step(count);
    return failed;
}

static int leave_threads(long count)
{
    pthread_t thread;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, work_for_ever, NULL);
    step(count);
    return 0;
}

/* A child that outlives the recording, and tells when PyTorch is rid of us. */
static int leave_daemon(long count)
{
    if (fork() == 0) {
        setsid();
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        initialize_cuda();
        step(count);
        FILE *file = fopen("working", "w");
        fclose(file);
        for (int i = 0; i < 1000 && callbacks() > 0; i++)
            pause_ms(10);
        step(count);
        file = fopen(callbacks() == 0 ? "alone" : "watched", "w");
        fclose(file);
        _exit(0);
    }
    for (int i = 0; i < 1000 && access("working", F_OK) != 0; i++)
        pause_ms(10);
    return 0;
}

static int obey(long count)
{
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        size_t wanted = strtoul(line, NULL, 10);
        for (int i = 0; i < 1000 && callbacks() != wanted; i++)
            pause_ms(10);
        step(count);
        printf("%zu callbacks\n", callbacks());
        fflush(stdout);
    }
    return 0;
}

static int run_steps(long count)
{
    step(count);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(long count);
} ways[] = {{"step", run_steps},      {"late", run_steps},
            {"bare", run_steps},      {"threads", run_threads},
            {"cross", cross},         {"fork", fork_workers},
            {"leave", leave_threads}, {"daemon", leave_daemon},
            {"obey", obey},           {NULL, NULL}};

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    const char *how = argc > 2 ? argv[2] : "step";
    int at = 0;
    while (ways[at].name && strcmp(how, ways[at].name) != 0)
        at++;
    int late = strcmp(how, "late") == 0, bare = strcmp(how, "bare") == 0;
    if (late)
        initialize_cuda();
    if (!bare && load_torch() != 0)
        return 1;
    if (!late && strcmp(how, "daemon") != 0)
        initialize_cuda();
    for (int i = 0; late && i < 1000 && callbacks() == 0; i++)
        pause_ms(10);
    if (!bare)
        printf("%zu callbacks\n", callbacks());
    fflush(stdout);
    return bare || !ways[at].run ? 0 : ways[at].run(count);
}
