// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The words of findings, of rules about steps, input, threads, files and the recording. See
// finding_words.h.

#pragma once

#include "analysis/render/finding_words.h"

namespace gpuprof::analysis {

inline constexpr FindingWords kHostRows[] = {
    {"EN-001.name", "The environment slows the program"},
    {"EN-001.reason", "the variables were recorded"},
    {"EN-001.setting", "{0}={1}: {2}."},
    {"EN-001.launches_wait_kernel_cuda_launch_blocking",
     "{0} of {1} launches wait for their kernel, as CUDA_LAUNCH_BLOCKING=1 makes them."},
    {"EN-001.omp_num_threads_machine_processors",
     "OMP_NUM_THREADS={0}: the machine has {1} processors."},
    {"EN-001.unset_unless_you_look", "Unset {0}, unless you look for a fault."},
    {"EN-001.unset_cuda_launch_blocking", "Unset CUDA_LAUNCH_BLOCKING."},
    {"EN-001.set_omp_num_threads_number_processors",
     "Set OMP_NUM_THREADS to the number of processors of each process."},
    {"EN-001.cuda_launch_blocking", "each launch waits for its kernel"},
    {"EN-001.cuda_cache_disable", "the driver compiles code anew in each run"},
    {"EN-001.pytorch_no_cuda_memory_caching", "each tensor is allocated by CUDA"},
    {"EN-001.nccl_debug", "NCCL writes a log of its calls"},
    {"EN-001.nccl_p2p_disable", "GPUs exchange data through the host"},
    {"EN-001.nccl_shm_disable", "processes of one machine exchange data through the network"},
    {"EN-001.nccl_ib_disable", "machines exchange data without InfiniBand"},
    {"EN-001.torch_distributed_debug", "collectives are checked, which waits for all ranks"},
    {"EN-001.jax_disable_jit", "JAX compiles nothing"},
    {"EN-001.jax_debug_nans", "JAX checks each result, which waits for the GPU"},
    {"EN-001.xla_python_client_allocator", "each array is allocated by CUDA"},
    {"EN-001.pythonmalloc", "Python checks each allocation"},
    {"EN-001.as_if_unset", "as if the variable had not been set"},
    {"EN-001.thread_each", "a thread for each processor"},
    {"EN-001.caveat", "What these settings cost was not measured."},

    {"EN-002.name", "This recording has defects"},
    {"EN-002.reason", "counted by the recorder"},
    {"EN-002.lost", "{0} lost: {1}."},
    {"EN-002.recording_slowed_program_about", "Recording slowed the program by about {0}."},
    {"EN-002.times_gpu_may_differ",
     "Times of the GPU may differ by {0} from those of the host: shorter gaps say nothing."},
    {"EN-002.record_less_use_trace",
     "Record less: use --trace with fewer sources, or a shorter --capture."},
    {"EN-002.record_machine_less_busy",
     "Record on a machine that is less busy, so that the clocks are read closely."},

    {"HO-001.name", "Much of a step runs no operation at all"},
    {"HO-001.reason", "measured, but the code that runs instead was not recorded"},
    {"HO-001.gain", "the time without an operation"},
    {"HO-001.operation_open_step_thread",
     "{0} has no operation open on the step's thread: Python, or other host code."},
    {"HO-001.move_per_step_python",
     "Move per-step Python work (metrics, logging, copying lists, per-sample loops) out of the "
     "step, or do it every N steps."},
    {"HO-001.caveat", "The gain is only the part that can be left out or moved elsewhere."},

    {"IN-001.name_single", "Data is loaded between the steps, not alongside them"},
    {"IN-001.name_idle", "Steps wait for data although the loader's workers are not busy"},
    {"IN-001.name_few", "The loader has too few workers"},
    {"IN-001.name_source", "The loader's workers read from what serves one of them at a time"},
    {"IN-001.name_lock", "The loader's workers wait for each other"},
    {"IN-001.name_collate", "Making batches takes most of the loader's time (collate_fn)"},
    {"IN-001.name_order", "One late batch holds back others that are ready"},
    {"IN-001.name_transfer", "Ready batches take long to reach the steps"},
    {"IN-001.name_epochs", "Steps wait for the first batch of each epoch"},
    {"IN-001.name", "Steps wait for data"},
    {"IN-001.reason", "measured as the time inside the loader's next batch"},
    {"IN-001.gain_replayed", "data is there at once"},
    {"IN-001.gain_bound", "waits for data"},
    {"IN-001.first_batch_takes",
     "The first batch of an epoch takes up to {0}, the others {1} in the mean. Epochs: {2}."},
    {"IN-001.go_on_with_workers",
     "DataLoader(persistent_workers=True) keeps the workers from one epoch to the next."},
    {"IN-001.make_start_cheaper",
     "Open files and read indexes once, in the constructor of the dataset, not where an epoch "
     "begins."},
    {"IN-001.source_serves_one",
     "Workers wait while they read samples. The more of them wait, the longer each wait is. One "
     "batch keeps the source busy for {0}, and {1} requests are outstanding on average."},
    {"IN-001.workers_share_lock",
     "The samples of a batch take {0}. Much of this time passes in waits for locks."},
    {"IN-001.late_batch",
     "For {0} of the {1} that a step waits, one worker is late while another has ready batches and "
     "nothing to do."},
    {"IN-001.few_long_waits", "{0} of {1} waits make up nine tenths of the time."},
    {"IN-001.collate_takes", "collate_fn takes {0} of the {1} that a worker works on a batch."},
    {"IN-001.number_that_suffices",
     "A batch takes {0}, and a step with a ready batch takes {1}: {2} processes can hide the "
     "loading."},
    {"IN-001.ask_for_larger_pieces",
     "Ask for fewer, larger pieces, keep in memory what is read again, or read from several copies "
     "of the data."},
    {"IN-001.share_no_lock",
     "Let each worker open its own files and connections (worker_init_fn), so that none waits for "
     "another."},
    {"IN-001.take_what_is_ready",
     "DataLoader(in_order=False) hands over what is ready first. If the order matters, a larger "
     "prefetch_factor has batches ready meanwhile."},
    {"IN-001.find_slow_samples",
     "Find the samples that take far longer than others, and prepare them before the run."},
    {"IN-001.pass_fewer_tensors",
     "Pass batches on as fewer, larger tensors, and use pin_memory=True for copies to the GPU."},
    {"IN-001.make_collate_cheaper",
     "Make collate_fn cheaper: do the work of a sample in __getitem__ or before the run, and let "
     "collate_fn only stack tensors."},
    {"IN-001.raise_num_workers",
     "Raise num_workers from {0} to {1}. They wait without a processor, so the number of "
     "processors is not the limit."},
    {"IN-001.load_in_workers",
     "DataLoader(num_workers={0}, persistent_workers=True): loading then runs alongside the step, "
     "in {0} processes."},
    {"IN-001.number_changes_nothing",
     "Another number of them changes nothing: each waits until the one before it is served."},
    {"IN-001.loader_runs_training_process", "The loader runs in the training process ({0})."},
    {"IN-001.loading_time_passed_reads",
     "{0} of the loading time passed in reads of files. The longest: {1}."},
    {"IN-001.busiest_worker_pid_used",
     "The busiest worker (pid {0}) used {1} times the processor time of the mean worker."},
    {"IN-001.spent_waiting_next_batch",
     "{0} is spent waiting for the next batch; {1} of {2} steps waited."},
    {"IN-001.read_fewer_larger_files",
     "Read fewer, larger files (shards of samples) from a local disk, and keep what is read "
     "often in memory. `gpuprof stats files` lists the files."},
    {"IN-001.give_worker_equal_share",
     "Give each worker an equal share: equal shards, shuffled samples, and large samples spread "
     "over all workers."},
    {"IN-001.use_worker_free_processor",
     "Use one worker for each free processor: DataLoader(num_workers={0}) or fewer."},
    {"IN-001.give_job_processors_let",
     "Give the job more processors, or let fewer threads compete for them: use "
     "torch.set_num_threads(N), and run nothing else on the machine."},
    {"IN-001.dataloader_num_workers_persistent_workers_true",
     "DataLoader(num_workers=N, persistent_workers=True): loading then runs alongside the step, "
     "in N processes."},
    {"IN-001.find_where_workers_wait",
     "Find where the workers wait. For storage: read larger files from a local disk. For passing "
     "batches on: use fewer, larger tensors and a prefetch_factor above 2."},
    {"IN-001.set_persistent_workers_true_waits",
     "Set persistent_workers=True if the waits are at the start of each epoch."},
    {"IN-001.try_workers_num_workers_larger",
     "Try more workers (num_workers) and a larger prefetch_factor, and make each sample cheaper."},
    {"IN-001.workers", "{0} workers were busy {1} of the time each."},
    {"IN-001.workers_wait",
     "{0} workers were busy {1} of the time each, and waited {2} of the time for a processor."},
    {"IN-001.caveat",
     "The gain is the time that a step waits now. It is reached only if loading is hidden "
     "completely."},

    {"IN-002.name_starved", "The loader's workers have no processors to run on"},
    {"IN-002.name_busy", "The loader's workers cannot keep up"},
    {"IN-002.hiding_loading_per_step",
     "Hiding {0} of loading per step behind the {1} of other work takes about {2} workers; this "
     "machine has {3} processors."},
    {"IN-002.dataloader_num_workers", "DataLoader(num_workers={0})"},
    {"IN-002.make_sample_cheaper_store",
     "Make each sample cheaper: store decoded or smaller images, cache what does not change, use "
     "a faster decoder, or augment whole batches as tensors."},
    {"IN-002.caveat",
     "More workers alone do not help, because there are not enough processors. The gain assumes "
     "that samples become cheap enough to be hidden."},

    {"IN-003.name", "The loader waits for its files most of the time"},

    {"IN-004.name_too_many", "The loader has far more workers than processors"},
    {"IN-004.name_too_few", "The loader has too few workers: processors are free"},

    {"IN-005.name", "One of the loader's workers has most of the work"},

    {"IN-006.name", "The thread of the steps works on batches itself"},
    {"IN-006.reason", "time in the loader in which the thread did not wait"},
    {"IN-006.thread_loader_next_batch",
     "{0} the thread was in the loader's next batch, and did not wait."},
    {"IN-006.let_workers_put_collation",
     "Let the workers do it: put collation into collate_fn, pass on few, large tensors, and use "
     "pin_memory=True, which copies on a thread of its own."},
    {"IN-006.prefetch_device_copy_next",
     "Prefetch to the device: copy the next batch on a stream of its own."},

    {"IN-007.name", "The program waits for tf.data"},
    {"IN-007.name_epochs", "The first batch of each epoch waits until the shuffle buffer is full"},
    {"IN-007.first_batch_takes",
     "The first batch of an epoch takes up to {0}, the others {1} in the mean: {2} fills its "
     "buffer before it gives an element."},
    {"IN-007.shuffle_fewer", "shuffle() with a smaller buffer fills it sooner."},
    {"IN-007.shuffle_names",
     "Shuffle what is cheap: names of files or indexes. Read the elements behind shuffle(), or "
     "keep them by cache() before it."},
    {"IN-007.repeat_before_shuffle",
     "dataset.repeat().shuffle(N) fills the buffer once for all epochs; their elements mix at the "
     "borders."},
    {"IN-007.name_run", "The program waits for the next element of tf.data"},
    {"IN-007.reason", "the calls of the iterators were timed"},
    {"IN-007.reason_run", "waits whose stack leads to tf.data's iterator"},
    {"IN-007.calls_took_mean", "{0} calls of {1} took {2} in the mean, and {3} in all."},
    {"IN-007.most_for",
     "{0} of the wait was for {1}: `gpuprof stats tf_data` divides the wait among all iterators."},
    {"IN-007.meanwhile_worked_longest_summed",
     "Meanwhile {0} worked longest: {1}, summed over all threads."},
    {"IN-007.replace_tf_py_function_tf",
     "Replace tf.py_function and tf.numpy_function by TensorFlow's operations: Python runs one "
     "call at a time, however many are asked for."},
    {"IN-007.read_several_files_once",
     "Read several files at once: interleave(..., num_parallel_calls=tf.data.AUTOTUNE), from a "
     "disk close by. Reading compressed files costs processor time."},
    {"IN-007.function_map_runs_make",
     "If the function of map() runs {0}, make it cheaper, or keep its result with cache() if the "
     "result fits."},
    {"IN-007.run_map_parallel_num_parallel_calls",
     "Run the map in parallel: num_parallel_calls=tf.data.AUTOTUNE."},
    {"IN-007.end_dataset_prefetch_tf",
     "End the dataset with .prefetch(tf.data.AUTOTUNE), so that it works ahead."},
    {"IN-007.make_element_cheaper_store",
     "Make each element cheaper: store decoded or smaller samples."},
    {"IN-007.waits_inside_tf_data", "{0} waits inside tf.data's iterator took {1} of the run."},
    {"IN-007.let_tf_data_work",
     "Let tf.data work ahead: end the dataset with .prefetch(tf.data.AUTOTUNE), and give map() "
     "num_parallel_calls=tf.data.AUTOTUNE."},
    {"IN-007.make_element_cheaper_or_cache",
     "Make each element cheaper: store decoded or smaller samples, or use cache()."},
    {"IN-007.caveat",
     "The gain is at most the time waited. It is reached only if the input is ready in time."},

    {"IN-008.name", "Files are read from a cold cache at first"},
    {"IN-008.reason", "reads became faster, and steps became shorter at the same time"},
    {"IN-008.gain", "what early steps take beyond late ones"},
    {"IN-008.reads_took_mib_first",
     "Reads took {0} for each MiB in the first third of the steps, and {1} in the last third. "
     "Steps of the last third take {2}, the mean step {3}."},
    {"IN-008.copy_data_local_disk",
     "Copy the data to a local disk first, or read the files once before the run."},
    {"IN-008.caveat",
     "Each run over new files starts cold. Warm steps are those of the last third."},

    {"OP-001.name", "The optimizer spends its time in Python, between operations"},
    {"OP-001.reason", "time of the optimizer's step in which no operation ran"},
    {"OP-001.gain", "Python between the optimizer's operations"},
    {"OP-001.runs_operation_inside", "{0} runs no operation, inside {1}."},
    {"OP-001.give_optimizer_fused_true",
     "Give the optimizer fused=True, or foreach=True if fused is not available: one call updates "
     "all parameters."},

    {"OV-001.name", "No steps were found: no figure is that of a step"},
    {"OV-001.reason", "no mark and no pattern of steps was recorded"},
    {"OV-001.most_rules_compare_time",
     "Most rules compare with the time of a step, and could not look."},
    {"OV-001.put_nvtx_range_called",
     "Put an NVTX range called `step` around each step, or name other ranges with --step-marker.",
     "Wrap each step: `with torch.profiler.record_function(\"step\")`, call profiler.step(), or "
     "name other ranges with --step-marker.",
     "Wrap each step: `with tf.profiler.experimental.Trace(\"train\", step_num=i, _r=1)`.",
     "Wrap each step: `with jax.profiler.StepTraceAnnotation(\"train\", step_num=i)`."},

    {"PY-001.name", "{0} uses {1} of the processor time"},
    {"PY-001.reason", "stacks of threads were sampled"},
    {"PY-001.gain", "the time in which a thread is in the function, or ready to go on there"},
    {"PY-001.function", "{0} ({1})"},
    {"PY-001.time_of", "{0} {1}"},
    {"PY-001.of_process", "The figures are those of {0}."},
    {"PY-001.used",
     "{0} was on a processor for {1} of {2} ({3}), with the libraries that it calls, on {4} "
     "{4|thread|threads}."},
    {"PY-001.in_libraries", "{0} of this were in libraries."},
    {"PY-001.callers", "Its callers: {0}."},
    {"PY-001.look_at_its_lines",
     "See which lines take the time: `gpuprof stats python --by line`."},
    {"PY-001.do_less_in_it",
     "Call it less often or keep its results, take a better algorithm, or move its loops into "
     "numpy or native code."},
    {"PY-001.caveat", "The function may do what the program is for."},

    {"PY-002.name", "Threads wait for Python's global interpreter lock"},
    {"PY-002.reason", "stacks of threads were sampled"},
    {"PY-002.gain", "the time in which a thread waits for the lock"},
    {"PY-002.waited",
     "{0} {0|thread|threads} waited for {1}: {2} of the time in which threads wanted to run."},
    {"PY-002.longest", "{0} of this in {1}."},
    {"PY-002.holders", "Meanwhile these functions ran: {0}."},
    {"PY-002.use_processes",
     "Give the work to several processes: multiprocessing, or more workers of the server."},
    {"PY-002.release_the_lock",
     "Let native code do the work that holds the lock: numpy and hashlib release the lock for "
     "large data."},
    {"PY-002.caveat",
     "The gain needs a free processor for each thread that waits. Each change of the lock's "
     "holder also costs time."},

    {"PY-003.name", "Threads wait in {0} for long"},
    {"PY-003.reason", "stacks of threads were sampled, but not the object of each wait"},
    {"PY-003.gain", "other threads may set the pace"},
    {"PY-003.waited",
     "{0} {0|thread|threads} waited in {1}{2} for {3}: {4} of the time of threads that had work."},
    {"PY-003.called_by", ", called by {0}"},
    {"PY-003.hold_locks_shorter",
     "If a lock is waited for, hold it for a shorter time, or give each thread its own data."},
    {"PY-003.ask_peers_less",
     "If a peer is waited for, such as a database, ask it less often, ask several at once, or keep "
     "its answers."},
    {"PY-003.caveat",
     "A thread that waits for work by design looks the same, unless it waits in Python's queues "
     "and selectors."},

    {"PY-004.name", "Python's garbage collector stops the program"},
    {"PY-004.reason", "the collector reported each pause"},
    {"PY-004.gain", "the collections"},
    {"PY-004.paused",
     "{0} ({1}) of the run in {2} {2|collection|collections}. The longest takes {3}."},
    {"PY-004.collect_less",
     "Call gc.freeze() behind the set-up, so that its objects are not looked at again. Call "
     "gc.disable() around work that may not stop, and gc.collect() behind it."},

    {"RU-001.name", "Without steps: where the time of the run went"},
    {"RU-001.reason", "the kernel's accounting, and every wait was timed"},
    {"RU-001.threads_process_together_kept",
     "All threads of this process together kept {0} of {1} processors busy."},
    {"RU-001.kind", "{0} in {1} {1|wait|waits} of kind `{2}`{3}."},
    {"RU-001.find_waits_wait_gpuprof",
     "Find what the waits wait for: `gpuprof stats stacks --by wait_all`. If they wait for data, "
     "prepare the data ahead of time in another thread or process."},
    {"RU-001.put_nvtx_range_called",
     "Put an NVTX range called `step` around each step, or name other ranges with --step-marker. "
     "The steps are then divided in the same way."},
    {"RU-001.part", "{0} ({1})"},
    {"RU-001.of_process", " of process {0}"},
    {"RU-001.ready", "{0} ready but without a processor, "},
    {"RU-001.thread", "Thread {0} ({1}){2}, in {3}: {4} on a processor, {5}{6} in waits."},
    {"RU-001.called_by", ", called by {0}"},
    {"RU-001.caveat",
     "The functions that computed are not known: gpuprof takes stacks of memory and waits, none "
     "of running code."},

    {"ST-001.name", "The first steps are warm-up, and in no figure"},
    {"ST-001.reason", "measured"},
    {"ST-001.times_median",
     "{0} {0|step takes|steps take} {1} times the median of {2}, {3} in all."},
    {"ST-001.record_later_steps_alone", "Record later steps alone: --capture=steps:FIRST-LAST."},

    {"ST-002.name", "Steps differ much in length"},
    {"ST-002.reason", "measured"},
    {"ST-002.gain", "what the mean step takes beyond the median one"},
    {"ST-002.median_step_takes_ten",
     "The median step takes {0}, one in ten more than {1}; `{2}` differs most."},
    {"ST-002.see_steps_slow_gpuprof",
     "See which steps are slow and in what: `gpuprof stats steps`."},

    {"ST-003.name", "Python's garbage collector runs within steps"},
    {"ST-003.reason", "the calls were traced"},
    {"ST-003.pauses", "the collector reported each pause"},
    {"ST-003.gain", "the collections"},
    {"ST-003.collections_longest", "{0} in {1} collections. The longest: {2}."},
    {"ST-003.call_gc_collect_between",
     "Call gc.collect() between steps, and only every few hundred steps. Collections that Python "
     "starts itself: gc.freeze() behind the set-up, gc.disable() around steps, or a higher "
     "gc.set_threshold()."},
    {"ST-003.caveat", "Only collections that the program calls were recorded."},

    {"ST-004.name", "Steps wait for checkpoints or other results to be written"},
    {"ST-004.reason", "the calls were recorded"},
    {"ST-004.gain", "the calls that write"},
    {"ST-004.write_longest", "{0} in {1} {1|call|calls} that write. The longest: {2}."},
    {"ST-004.write_less_often_another", "Write less often, or on another thread from a copy.",
     "Write less often, or on another thread from a copy on the host: "
     "torch.distributed.checkpoint.async_save.",
     "Save less often (save_freq), and use tf.train.CheckpointOptions(enable_async=True).",
     "Save less often, and with Orbax's AsyncCheckpointer."},

    {"ST-005.name", "Steps trace or compile the program again"},
    {"ST-005.gain", "the program is traced and compiled in no time"},
    {"ST-005.compile_before_loop_keep", "Compile before the loop, and keep what was compiled.",
     "Keep shapes and Python values stable: pad batches, or mark sizes dynamic "
     "(torch._dynamo.mark_dynamic). TORCH_LOGS=recompiles tells the reason.",
     "Give tf.function an input_signature, and tensors instead of Python numbers.",
     "Keep shapes stable, and pass Python values as static_argnums only if they are few. "
     "jax.config.update(\"jax_explain_cache_misses\", True) tells the reason."},
    {"ST-005.pieces", "compilations of the framework"},

    {"ST-006.name", "Time passes between the end of a step and the next step"},
    {"ST-006.reason", "measured between the marks of the steps"},
    {"ST-006.gain", "the time between steps"},
    {"ST-006.median_pass_between_two",
     "In the median {0} pass between two steps, which take {1} in the mean."},
    {"ST-006.happens_between_steps_less",
     "Do what happens between steps less often, or on another thread.",
     "Do it every N steps or on another thread: metrics, logging, schedulers, progress bars.",
     "Run several steps a call: model.compile(steps_per_execution=N). Run callbacks less often.",
     "Do it every N steps, and start the next step before you read the results of this one."},

    {"ST-008.name", "The recording is of a cold start"},
    {"ST-008.reason", "the calls were timed"},
    {"ST-008.passed_single_long_calls",
     "{0} of {1} passed in single long calls: CUDA was set up, code was loaded, memory was "
     "allocated."},
    {"ST-008.longest", "The longest: {0}."},
    {"ST-008.warm_up_before_you",
     "Warm up before you measure: run a few steps first, then record (--capture=delay:..., or "
     "torch.profiler's schedule(wait, warmup, active))."},
    {"ST-008.start_itself_matters_load",
     "If the start itself matters: load fewer kernels (CUDA_MODULE_LOADING=LAZY), and keep the "
     "allocator's cache."},
    {"ST-008.caveat", "Nothing in this recording tells how a steady step runs."},

    {"ST-009.name", "The program starts slowly"},
    {"ST-009.reason", "measured"},
    {"ST-009.gpu_first_worked_after", "The GPU first worked {0} after the process had begun."},
    {"ST-009.whole_run", "In the whole run: {0}."},
    {"ST-009.load_models_local_files",
     "Load models from local files, import less, keep compiled code (caches), and prepare data "
     "while the model loads."},
    {"ST-009.cuda_setup", "setting up CUDA {0}"},
    {"ST-009.compile", "compiling and loading code {0}"},

    {"ST-010.name", "Requests wait for their tokens while prompts are read"},
    {"ST-010.reason", "measured between iterations that make tokens"},
    {"ST-010.percentile",
     "In {0} of {1} times from token to token, prompts were read, too. The 99th percentile of all "
     "is {2}; without these it is {3}."},
    {"ST-010.smaller_pieces",
     "Read long prompts in smaller pieces, alongside decodes (chunked prefill): "
     "--max-num-batched-tokens of vLLM, --chunked-prefill-size of sglang."},
    {"ST-010.other_devices",
     "Or read prompts on other GPUs than those that make tokens (disaggregated prefill)."},
    {"ST-010.caveat",
     "Smaller pieces make the first token of a long prompt later, and the throughput may fall."},

    {"TH-001.name_others", "Other programs use the processors that steps need"},
    {"TH-001.name_own", "More threads want to run than there are processors"},
    {"TH-001.reason", "the kernel's accounting of the step's thread"},
    {"TH-001.gain", "waits for a processor"},
    {"TH-001.step_thread_ready_run",
     "{0} the step's thread was ready to run but had no processor."},
    {"TH-001.processes_recorded_kept_processors",
     "The processes recorded kept {0} of {1} processors busy."},
    {"TH-001.measure_quiet_machine_give",
     "Measure on a quiet machine, or give the job its own processors (taskset, cgroup limits, "
     "the scheduler's request)."},
    {"TH-001.use_fewer_threads_torch",
     "Use fewer threads (torch.set_num_threads(N) in the training process, OMP_NUM_THREADS=1 in "
     "each worker), fewer workers, or more processors."},
    {"TH-001.part_each", "each process has its part of the processors"},
    {"TH-001.caveat", "Work of other programs on this machine counts too."},
};

}  // namespace gpuprof::analysis
