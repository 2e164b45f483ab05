-- nsys 2022.1, schema 2.9: EXPORT_META_DATA with the OUTUPT spelling, no enum tables, the null stream in a table
-- of its own, a driver version without dots, call stacks of OS calls, device memory events, negative times.
CREATE TABLE EXPORT_META_DATA (name TEXT NOT NULL, value TEXT);
INSERT INTO EXPORT_META_DATA VALUES
  ('EXPORT_PRODUCT_NAME', 'NVIDIA Nsight Systems'), ('EXPORT_PRODUCT_VERSION', '2022.1.3.3'),
  ('EXPORT_SCHEMA_VERSION', '2.9.1'), ('EXPORT_OUTUPT_FILE', 'life.sqlite'), ('EXPORT_LAZY', 'true');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES
  (0, '[Unknown]'), (18, 'poll'), (19, 'CUDA profiling initialization'), (27, 'life'), (44, '/usr/lib64/libc-2.28.so'),
  (58, '/opt/life/life'), (179, 'poll'), (180, 'operator;wait(Grid&)'), (181, '0x401a60'),
  (708, '_Z4stepPiS_i'), (729, 'cudaMalloc_v3020'), (730, 'cudaLaunchKernel_v7000'), (731, 'step(int *, int *, int)'),
  (732, 'step'), (733, 'cudaDeviceSynchronize_v3020'), (734, 'cuMemAlloc_v2');
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES
  (1 << 48, 'Local (CLI)', 'NvDriverVersion', 205, '5602803'), (1 << 48, 'Local (CLI)', 'CudaDriverVersion', 611, '12060'),
  (1 << 48, 'Local (CLI)', 'GpuInfo', 897, x'0a08ff'), (1 << 48, 'Local (CLI)', 'OsDescription', 605, 'Rocky Linux 8.9');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '2023-11-14T22:13:20', '2023-11-14T16:13:20');
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER);
INSERT INTO ANALYSIS_DETAILS VALUES (1 << 48, 100000, 184033390, 184133390);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER,
  l2CacheSize INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER,
  uuid TEXT, luid INTEGER, chipName TEXT, cuDevice INTEGER, maxShmemPerBlockOptin INTEGER, maxShmemPerSm INTEGER,
  maxRegistersPerSm INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER,
  computeMajor INTEGER, computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES
  (1 << 48, 0, 'NVIDIA A100-SXM4-40GB', '0000:01:00.0', 1, 41943040, 42409000960, 1555200000000, 1410000000, 108, 0,
   '01234567-89ab-cdef-0123-456789abcdef', 0, 'GA100', 0, 166912, 167936, 65536, 32, 64, 32, 8, 0, 8, 2),
  (1 << 48, 1, 'Microsoft Basic Render Driver', '', 1, 0, 0, 0, 0, 0, 0, '', 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
CREATE TABLE TARGET_INFO_CUDA_NULL_STREAM (streamId INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER,
  deviceId INTEGER, contextId INTEGER);
INSERT INTO TARGET_INFO_CUDA_NULL_STREAM VALUES (7, 0, 1, 1000, 0, 1);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
INSERT INTO PROCESSES VALUES ((1 << 48) | (1000 << 24), 1000, '/opt/life/life'), ((1 << 48) | (1 << 24), 1, 'systemd');
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
INSERT INTO ThreadNames VALUES (0, 10, (1 << 48) | (1000 << 24) | 1000), (27, 20, (1 << 48) | (1000 << 24) | 1000),
  (18, 10, (1 << 48) | (1 << 24) | 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
  registersPerThread INTEGER NOT NULL, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,
  blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER,
  localMemoryTotal INTEGER, gridId INTEGER, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (5000, 9000, 0, 1, 7, 210, (1 << 48) | (1000 << 24), 731, 732, 708, 1, 1, 24, 5, 6, 1, 16, 16, 1, 128, 1296, 40, 0, 1, 65536, NULL, 0),
  (9500, 9900, 0, 1, 7, 211, (1 << 48) | (1000 << 24), 731, 732, 708, 1, 1, 24, 5, 6, 1, 16, 16, 1, 128, 1296, 40, 0, 2, 65536, NULL, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
  copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER,
  srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER,
  virtualAddress INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES
  (1000, 1800, 0, 1, 7, 209, (1 << 48) | (1000 << 24), 26896, 1, NULL, 0, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (10000, 10500, 0, 1, 7, 213, (1 << 48) | (1000 << 24), 4096, 2, NULL, 2, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (-900, -700, 0, 1, 4294967295, 0, (1 << 48) | (1000 << 24), 65536, 11, NULL, 7, 4, NULL, NULL, NULL, NULL, 2, NULL, 4096);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (100, 400, 0, (1 << 48) | (1000 << 24) | 1000, 207, 729, 0, NULL),
  (150, 390, 1, (1 << 48) | (1000 << 24) | 1000, 207, 734, 0, NULL),
  (4000, 4200, 0, (1 << 48) | (1000 << 24) | 1000, 210, 730, 0, NULL),
  (4300, 4400, 0, (1 << 48) | (1000 << 24) | 1000, 211, 730, 0, NULL),
  (4500, 9950, 0, (1 << 48) | (1000 << 24) | 1000, 212, 733, 0, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL,
  eventId INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES
  (4600, 9940, 0, 1, 4294967295, 212, (1 << 48) | (1000 << 24), 1, 4294967295),
  (20000, 20100, 0, 1, 7, 214, (1 << 48) | (1000 << 24), 3, 4294967295);
CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
  nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, nestingLevel INTEGER, callchainId INTEGER NOT NULL);
INSERT INTO OSRT_API VALUES
  (12000, 15000, 27, (1 << 48) | (1000 << 24) | 1000, 18, 0, 0, 3),
  (16000, 17000, 27, (1 << 48) | (1000 << 24) | 1000, 18, 0, 0, 0);
CREATE TABLE OSRT_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, kernelMode INTEGER,
  thumbCode INTEGER, unresolved INTEGER, specialEntry INTEGER, originalIP INTEGER, unwindMethod INTEGER,
  stackDepth INTEGER NOT NULL, PRIMARY KEY (id, stackDepth));
INSERT INTO OSRT_CALLCHAINS VALUES
  (3, 181, 58, NULL, NULL, 1, NULL, 4201056, NULL, 2),
  (3, 179, 44, NULL, NULL, NULL, NULL, 23402012985360, NULL, 0),
  (3, 180, 58, NULL, NULL, NULL, NULL, 4210151, NULL, 1);
CREATE TABLE PROFILER_OVERHEAD (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL,
  returnValue INTEGER NOT NULL);
INSERT INTO PROFILER_OVERHEAD VALUES (-5000, 50, (1 << 48) | (1000 << 24) | 1000, 19, 0);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL,
  memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER);
INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES
  (30000, (1 << 48) | (1000 << 24), 0, 1, 47315943424, 0, 40000, 2, 1, NULL, 0),
  (300, (1 << 48) | (1000 << 24), 0, 1, 47315943424, 0, 40000, 2, 0, NULL, 0),
  (350, (1 << 48) | (1000 << 24), 0, 1, 47316024320, 0, 1000, 2, 0, NULL, 0),
  (360, (1 << 48) | (1000 << 24), 0, 1, 8652849152, 0, 4096, 1, 0, NULL, 0),
  (31000, (1 << 48) | (1000 << 24), 0, 1, 999, 0, 77, 2, 1, NULL, 0);
CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER);
INSERT INTO SCHED_EVENTS VALUES (1, 0, 1, (1 << 48) | (1000 << 24) | 1000);
