#include "view/gpu_text.h"

#include <string.h>

#include "analyze/msg.h"
#include "base/i18n.h"

static void add_rendered(struct str *out, struct value value, const char *unit)
{
    value_render(out, &value, true, 0);
    str_puts(out, unit);
}

void gpu_text_add_reasons(struct str *out, const char *list)
{
    static const struct {
        const char *name, *title;
    } reasons[] = {{"idle", N_("nothing to do")},
                   {"setting", N_("a setting")},
                   {"power-cap", N_("power limit")},
                   {"hardware", N_("hardware slowdown")},
                   {"sync-boost", N_("sync boost group")},
                   {"software-thermal", N_("heat (driver)")},
                   {"hardware-thermal", N_("heat (chip)")},
                   {"power-brake", N_("power brake")},
                   {"display", N_("display")},
                   {"none", N_("nothing")},
                   {"good", N_("good")},
                   {"unused", N_("too little traffic to judge")},
                   {"slow", N_("a lower generation than it can do")},
                   {"narrow", N_("fewer lanes than it can have")},
                   {"replays", N_("many replays")},
                   {"errors", N_("errors")},
                   {"inactive", N_("some links are down")},
                   {"reset-gpu", N_("a reset of the GPU")},
                   {"reboot", N_("a reboot")},
                   {"drain", N_("ending what uses it and its peers")},
                   {"drain-and-reset", N_("ending what uses it, then a reset")},
                   {"pass-through", N_("passed through to this virtual machine")},
                   {"mig", "MIG"},
                   {"mps", "MPS"},
                   {"vgpu", "vGPU"},
                   {"vgpu-host", N_("host of vGPUs")},
                   {"quota", N_("a library with quotas")}};
    for (const char *name = list; *name;) {
        size_t length = strcspn(name, ",");
        const char *title = NULL;
        for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
            if (strlen(reasons[i].name) == length && strncmp(reasons[i].name, name, length) == 0)
                title = _(reasons[i].title);
        if (name > list)
            str_puts(out, ", ");
        str_add(out, title ? title : name, title ? strlen(title) : length);
        name += length + (name[length] == ',');
    }
}

static double scaled(int64_t value, double unit)
{
    return (double)value / unit;
}

void gpu_text_add(struct str *out, enum gpu_unit unit, int64_t value)
{
    struct str text = {0};
    switch (unit) {
    case GPU_HZ:
        add_rendered(out, value_number(scaled(value, 1e6)), " MHz");
        break;
    case GPU_MILLIWATTS:
        add_rendered(out, value_number(scaled(value, 1e3)), " W");
        break;
    case GPU_MILLIJOULES:
        add_rendered(out, value_number(scaled(value, 1e3)), " J");
        break;
    case GPU_CELSIUS:
        add_rendered(out, value_number((double)value), " °C");
        break;
    case GPU_BYTES:
        add_rendered(out, value_bytes(value), "");
        break;
    case GPU_BYTES_PER_S:
        add_rendered(out, value_rate((double)value), "");
        break;
    case GPU_NS:
        add_rendered(out, value_ns(value), "");
        break;
    case GPU_PERCENT:
        add_rendered(out, value_ratio(scaled(value, 1e2)), "");
        break;
    case GPU_PERMILLE:
        add_rendered(out, value_ratio(scaled(value, 1e3)), "");
        break;
    case GPU_SWITCH:
        str_puts(out, value ? _("on") : _("off"));
        break;
    case GPU_REASONS:
    case GPU_LINK:
    case GPU_RECOVERY:
    case GPU_VIRTUAL:
    case GPU_SHARING:
        gpu_value_add(&text, unit, value);
        gpu_text_add_reasons(out, str_text(&text));
        break;
    case GPU_COUNT:
    case GPU_TENTHS:
    case GPU_HUNDREDTHS:
    case GPU_COMPUTE_MODE:
        gpu_value_add(out, unit, value);
        break;
    }
    str_release(&text);
}
