// Compares src/capture/profiler.h with the vendor's headers: compiles where they agree.
//
//     g++ -std=c++17 -fsyntax-only -Isrc -ICUPTI/include -ICUDA/include tests/gpu/layout.cc
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

extern "C" {
#include "capture/profiler.h"
}

#define SAME(ours, field, theirs, other)                                                                     \
    static_assert(offsetof(struct ours, field) == offsetof(theirs, other) &&                                 \
                      sizeof(((struct ours *)nullptr)->field) == sizeof(((theirs *)nullptr)->other),         \
                  #ours "." #field)
#define VALUE(ours, theirs) static_assert((int)ours == (int)theirs, #ours)

SAME(profiler_device_supported, device, CUpti_Profiler_DeviceSupported_Params, cuDevice);
SAME(profiler_device_supported, supported, CUpti_Profiler_DeviceSupported_Params, isSupported);
SAME(profiler_device_supported, architecture, CUpti_Profiler_DeviceSupported_Params, architecture);
SAME(profiler_device_supported, sli, CUpti_Profiler_DeviceSupported_Params, sli);
SAME(profiler_device_supported, vgpu, CUpti_Profiler_DeviceSupported_Params, vGpu);
SAME(profiler_device_supported, confidential, CUpti_Profiler_DeviceSupported_Params, confidentialCompute);
SAME(profiler_device_supported, cmp, CUpti_Profiler_DeviceSupported_Params, cmp);
SAME(profiler_device_supported, wsl, CUpti_Profiler_DeviceSupported_Params, wsl);
SAME(profiler_device_supported, api, CUpti_Profiler_DeviceSupported_Params, api);
VALUE(PROFILER_API_RANGE, CUPTI_PROFILER_RANGE_PROFILING);
VALUE(PROFILER_SUPPORT_NO, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED);
VALUE(PROFILER_SUPPORT_DISABLED, CUPTI_PROFILER_CONFIGURATION_DISABLED);
SAME(profiler_chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME(profiler_chip, name, CUpti_Device_GetChipName_Params, pChipName);

SAME(profiler_host_initialize, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(profiler_host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME(profiler_host_initialize, availability, CUpti_Profiler_Host_Initialize_Params,
     pCounterAvailabilityImage);
SAME(profiler_host_initialize, object, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME(profiler_host_object, object, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME(profiler_host_chips, count, CUpti_Profiler_Host_GetSupportedChips_Params, numChips);
SAME(profiler_host_chips, names, CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames);
SAME(profiler_host_add, object, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME(profiler_host_add, metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME(profiler_host_add, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME(profiler_host_config_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
SAME(profiler_host_config, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME(profiler_host_config, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME(profiler_host_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME(profiler_host_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME(profiler_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME(profiler_host_evaluate, object, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject);
SAME(profiler_host_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME(profiler_host_evaluate, bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize);
SAME(profiler_host_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME(profiler_host_evaluate, metrics, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME(profiler_host_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME(profiler_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);

SAME(profiler_range_enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
SAME(profiler_range_enable, object, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SAME(profiler_range_object, object, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
SAME(profiler_range_object, object, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
SAME(profiler_range_stop, object, CUpti_RangeProfiler_Stop_Params, pRangeProfilerObject);
SAME(profiler_range_stop, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
SAME(profiler_range_stop, nesting, CUpti_RangeProfiler_Stop_Params, targetNestingLevel);
SAME(profiler_range_stop, all_passes, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SAME(profiler_range_decode, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
SAME(profiler_range_data_size, metrics, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
SAME(profiler_range_data_size, count, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics);
SAME(profiler_range_data_size, most_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges);
SAME(profiler_range_data_size, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
     maxNumRangeTreeNodes);
SAME(profiler_range_data_size, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SAME(profiler_range_data, bytes, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, counterDataSize);
SAME(profiler_range_data, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
SAME(profiler_range_config, config_bytes, CUpti_RangeProfiler_SetConfig_Params, configSize);
SAME(profiler_range_config, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
SAME(profiler_range_config, data_bytes, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
SAME(profiler_range_config, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
SAME(profiler_range_config, range, CUpti_RangeProfiler_SetConfig_Params, range);
SAME(profiler_range_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
SAME(profiler_range_config, ranges_per_pass, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
SAME(profiler_range_config, nesting_levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
SAME(profiler_range_config, least_nesting, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
SAME(profiler_range_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME(profiler_range_config, nesting, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
SAME(profiler_range_count, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
SAME(profiler_range_name, range, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeIndex);
SAME(profiler_range_name, name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeName);
VALUE(PROFILER_AUTO_RANGE, CUPTI_AutoRange);
VALUE(PROFILER_KERNEL_REPLAY, CUPTI_KernelReplay);
VALUE(PROFILER_USER_REPLAY, CUPTI_UserReplay);

static_assert(sizeof(struct pc_sampling_pc) == sizeof(CUpti_PCSamplingPCData), "pc_sampling_pc");
SAME(pc_sampling_pc, cubin_crc, CUpti_PCSamplingPCData, cubinCrc);
SAME(pc_sampling_pc, pc, CUpti_PCSamplingPCData, pcOffset);
SAME(pc_sampling_pc, function, CUpti_PCSamplingPCData, functionName);
SAME(pc_sampling_pc, reason_count, CUpti_PCSamplingPCData, stallReasonCount);
SAME(pc_sampling_pc, reasons, CUpti_PCSamplingPCData, stallReason);
SAME(pc_sampling_pc, correlation, CUpti_PCSamplingPCData, correlationId);
SAME(pc_sampling_data, most_pcs, CUpti_PCSamplingData, collectNumPcs);
SAME(pc_sampling_data, dropped, CUpti_PCSamplingData, droppedSamples);
SAME(pc_sampling_data, pcs, CUpti_PCSamplingData, totalNumPcs);
SAME(pc_sampling_data, left, CUpti_PCSamplingData, remainingNumPcs);
SAME(pc_sampling_data, pc, CUpti_PCSamplingData, pPcData);
SAME(pc_sampling_data, samples_elsewhere, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
SAME(pc_sampling_data, is_full, CUpti_PCSamplingData, hardwareBufferFull);
static_assert(sizeof(struct pc_sampling_setting) == sizeof(CUpti_PCSamplingConfigurationInfo),
              "pc_sampling_setting");
SAME(pc_sampling_setting, attribute, CUpti_PCSamplingConfigurationInfo, attributeType);
SAME(pc_sampling_setting, status, CUpti_PCSamplingConfigurationInfo, attributeStatus);
SAME(pc_sampling_configure, settings, CUpti_PCSamplingConfigurationInfoParams, pPCSamplingConfigurationInfo);
SAME(pc_sampling_context, context, CUpti_PCSamplingEnableParams, ctx);
SAME(pc_sampling_get, data, CUpti_PCSamplingGetDataParams, pcSamplingData);
SAME(pc_sampling_reason_count, count, CUpti_PCSamplingGetNumStallReasonsParams, numStallReasons);
SAME(pc_sampling_reason_names, index, CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex);
SAME(pc_sampling_reason_names, names, CUpti_PCSamplingGetStallReasonsParams, stallReasons);
VALUE(PC_SAMPLING_BUFFER, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
VALUE(PC_SAMPLING_HARDWARE_BYTES, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE);
VALUE(PC_SAMPLING_START_STOP, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL);
VALUE(PC_SAMPLING_CONTINUOUS, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);

SAME(callback_call, site, CUpti_CallbackData, callbackSite);
SAME(callback_call, params, CUpti_CallbackData, functionParams);
SAME(callback_call, result, CUpti_CallbackData, functionReturnValue);
SAME(callback_call, symbol, CUpti_CallbackData, symbolName);
SAME(callback_call, context, CUpti_CallbackData, context);
SAME(callback_call, context_id, CUpti_CallbackData, contextUid);
SAME(callback_call, correlation_data, CUpti_CallbackData, correlationData);
SAME(callback_launch_params, function, cuLaunchKernel_params, f);
SAME(callback_launch_params, dynamic_shared_bytes, cuLaunchKernel_params, sharedMemBytes);
SAME(callback_launch_params, stream, cuLaunchKernel_params, hStream);
SAME(callback_launch_params, stream, cuLaunchCooperativeKernel_params, hStream);
SAME(callback_launch_config, dynamic_shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME(callback_launch_config, stream, CUlaunchConfig, hStream);
SAME(callback_launch_ex_params, config, cuLaunchKernelEx_params, config);
SAME(callback_launch_ex_params, function, cuLaunchKernelEx_params, f);
SAME(callback_resource_data, context, CUpti_ResourceData, context);
VALUE(CALLBACK_LAUNCH_KERNEL, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
VALUE(CALLBACK_LAUNCH_KERNEL_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
VALUE(CALLBACK_LAUNCH_COOPERATIVE, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
VALUE(CALLBACK_LAUNCH_COOPERATIVE_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
VALUE(CALLBACK_LAUNCH_COOPERATIVE_MULTI, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice);
VALUE(CALLBACK_GRAPH_LAUNCH, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
VALUE(CALLBACK_GRAPH_LAUNCH_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);
VALUE(CALLBACK_LAUNCH_KERNEL_EX, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
VALUE(CALLBACK_LAUNCH_KERNEL_EX_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);
VALUE(CALLBACK_CONTEXT_DESTROY, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
VALUE(CALLBACK_MODULE_UNLOAD, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
