// Stands in for PyTorch's libtorch_cpu.so: the functions that the injected library calls, under the names and
// with the binary interface that a C++ compiler gives them, and a C door for the test program.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#define PUBLIC __attribute__((visibility("default")))

namespace at
{

enum class RecordScope : std::uint8_t {}; // 0 function, 1 backward, 2 script, 7 user; ten in all

struct ObserverContext {
    virtual ~ObserverContext() = default;
};

struct RecordFunction;

class RecordFunctionCallback
{
  public:
    std::unique_ptr<ObserverContext> (*start)(const RecordFunction &);
    void (*end)(const RecordFunction &, ObserverContext *);
    double sampling_probability;
    bool scopes[10];
    bool needs_inputs, needs_outputs, needs_ids;
};

struct PUBLIC RecordFunction {
    using Running = std::pair<RecordFunctionCallback, std::unique_ptr<ObserverContext>>;
    std::string text;
    bool async;
    std::vector<Running> running;

    virtual ~RecordFunction() = default;
    const char *name() const;
    bool isAsync() const;
};

const char *RecordFunction::name() const
{
    return text.c_str();
}

bool RecordFunction::isAsync() const
{
    return async;
}

// Never destroyed: threads may go on while the program leaves.
static std::mutex &lock = *new std::mutex;
static auto &callbacks = *new std::vector<std::pair<std::uint64_t, RecordFunctionCallback>>;

PUBLIC std::uint64_t addGlobalCallback(RecordFunctionCallback callback)
{
    static std::uint64_t handle = 0;
    std::lock_guard<std::mutex> guard(lock);
    callbacks.emplace_back(++handle, callback);
    return handle;
}

PUBLIC void removeCallback(std::uint64_t handle)
{
    std::lock_guard<std::mutex> guard(lock);
    for (auto at = callbacks.begin(); at != callbacks.end(); ++at)
        if (at->first == handle) {
            callbacks.erase(at);
            return;
        }
    std::abort(); // was never added
}

} // namespace at

extern "C" {

PUBLIC std::size_t fake_torch_callbacks()
{
    std::lock_guard<std::mutex> guard(at::lock);
    return at::callbacks.size();
}

PUBLIC void *fake_torch_begin(const char *name, int scope, int async)
{
    auto *function = new at::RecordFunction;
    function->text = name;
    function->async = async != 0;
    std::vector<std::pair<std::uint64_t, at::RecordFunctionCallback>> now;
    {
        std::lock_guard<std::mutex> guard(at::lock);
        now = at::callbacks;
    }
    for (const auto &entry : now)
        if (entry.second.scopes[scope] && entry.second.sampling_probability == 1.0)
            function->running.emplace_back(entry.second, entry.second.start(*function));
    return function;
}

PUBLIC void fake_torch_end(void *opaque)
{
    auto *function = static_cast<at::RecordFunction *>(opaque);
    for (const auto &entry : function->running)
        entry.first.end(*function, entry.second.get());
    function->text.assign(function->text.size(), '?'); // what kept the address of the name is found out
    delete function;
}
}
