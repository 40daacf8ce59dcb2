// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The words of findings, of rules about what devices do: copies, collectives, kernels, memory. See
// finding_words.h.

#pragma once

#include "analysis/render/finding_words.h"

namespace gpuprof::analysis {

inline constexpr FindingWords kDeviceRows[] = {
    {"CO-001.name", "Collectives run while the GPU computes nothing"},
    {"CO-001.gain", "the collectives take no time"},
    {"CO-001.collectives_ran_time_holds",
     "In {0} only collectives ran. This time holds the transfer, and the wait for the slowest "
     "rank."},
    {"CO-001.compare_when_ranks_enter",
     "Compare when the ranks enter each collective: the rank that enters last makes the others "
     "wait. Balance its work."},
    {"CO-001.overlap_with_backward",
     "Overlap them with work that does not need their result: launch them earlier, on a stream "
     "of their own.",
     "Overlap them with the backward pass: DistributedDataParallel with smaller buckets "
     "(bucket_cap_mb), or FSDP with backward_prefetch.",
     "Overlap them with the backward pass: smaller bytes_per_pack in the hints of tf.distribute.",
     "Let XLA overlap them: XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true."},
    {"CO-001.overlap",
     "Overlap them with work that does not need their result: launch them earlier, on a stream "
     "of their own.",
     "Overlap them with work that does not need their result: async_op=True, and wait later. "
     "Small ones: a one-shot all-reduce in symmetric memory.",
     "Overlap them with the backward pass: smaller bytes_per_pack in the hints of tf.distribute.",
     "Let XLA overlap them: XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true."},
    {"CO-001.remedy_connections",
     "the GPU begins kernels in the order of their launches, collectives first"},
    {"CO-001.remedy_xla", "XLA moves collectives so that other work hides them"},
    {"CO-001.caveat",
     "The recording of one rank cannot tell waiting from transfer. The gain is the whole time."},

    {"CO-002.name", "One rank is late at the collectives"},
    {"CO-002.gain", "the wait for the last rank"},
    {"CO-002.last",
     "{0} is the last of {1} ranks in {2} of the {3} collectives that make up most of the delays."},
    {"CO-002.behind", "{0} a step pass between the arrival of the rank before it and its own."},
    {"CO-002.waited", "The others waited {0} for it, summed over ranks and collectives."},
    {"CO-002.ask_holds_rank_up",
     "Ask what holds this rank up: `gpuprof advise --pid {0}`. A rank with little work on its "
     "GPU and a late host is slow, too. `gpuprof stats communication` tells who waited for whom, "
     "and "
     "`gpuprof stats stragglers` tells in which phase the rank is slow."},
    {"CO-002.rank", "{0} (pid {1}, device {2})"},
    {"CO-002.caveat",
     "Clocks of machines were put right by the ends of collectives, which all ranks see at once."},

    {"CO-004.name", "Collectives send many small messages"},
    {"CO-004.reason", "a part of this time may be waits for other ranks"},
    {"CO-004.gain", "a part of these collectives takes no time"},
    {"CO-004.collectives_less_mean_take",
     "{0} collectives have less than {1}, {2} in the mean. They take {3} of the collectives' "
     "time."},
    {"CO-004.longest", "The longest: {0}."},
    {"CO-004.join_messages_collective_over",
     "Join messages: one collective over a buffer, or ncclGroupStart and ncclGroupEnd.",
     "Join messages: larger bucket_cap_mb of DistributedDataParallel, one flat buffer for "
     "metrics, torch.distributed's coalescing manager.",
     "Join messages: experimental_hints of tf.distribute with larger bytes_per_pack.",
     "Join messages: reduce one concatenated array, or let XLA combine collectives."},
    {"CO-004.caveat", "The gain assumes that joined messages take a part of this time."},

    {"CO-006.name", "Collectives slow the kernels that run at the same time"},
    {"CO-006.reason", "the kernels next to collectives may have other data"},
    {"CO-006.give_collectives_fewer_multiprocessors",
     "Give collectives fewer multiprocessors: NCCL_MAX_CTAS or NCCL_MAX_NCHANNELS. Compare the "
     "time of the step, because collectives become slower."},
    {"CO-006.let_other_engines_move",
     "Let other engines move the data: symmetric memory with copy engines, NVLS."},
    {"CO-006.kernels",
     "launches next to a collective that are slower than the same launches alone"},
    {"CO-006.remedy_ctas", "NCCL's kernels leave more multiprocessors to others"},

    {"CO-007.name", "Collectives run on the host, by Gloo"},
    {"CO-007.name_data_parallel", "One process drives several GPUs by DataParallel"},
    {"CO-007.reason", "which data they carry is not recorded"},
    {"CO-007.reason_data_parallel", "the operation was recorded"},
    {"CO-007.collectives_gloo_longest", "{0} is in {1} collectives of Gloo; the longest are {2}."},
    {"CO-007.step_dataparallel_forward_gpus",
     "{0} a step: DataParallel.forward, on {1} GPUs. It copies the model to each GPU in each "
     "step, and one thread of Python launches for all."},
    {"CO-007.use_nccl_tensors_gpus",
     "Use NCCL for tensors of GPUs: torch.distributed.init_process_group(\"nccl\"), or "
     "\"cpu:gloo,cuda:nccl\" for both."},
    {"CO-007.use_torch_nn_parallel",
     "Use torch.nn.parallel.DistributedDataParallel: one process for each GPU."},

    {"CO-008.name", "Ranks compute for different times"},
    {"CO-008.gain", "what the slowest rank computes beyond the mean"},
    {"CO-008.computes_step_computes_mean",
     "{0} computes for {1} a step. {2} computes for {3}. The mean of {4} ranks is {5}."},
    {"CO-008.give_ranks_same_work",
     "Give all ranks the same work: batches of equal numbers of tokens, stages of a pipeline of "
     "equal time. Divide tables and experts by their cost."},

    {"CO-010.name", "One rank is late at the collectives of the host"},
    {"CO-010.reason", "the arrival of each rank was measured"},
    {"CO-010.gain", "the wait for the last rank"},
    {"CO-010.last",
     "{0} (pid {1}) is the last of {2} ranks in {3} of the {4} collectives that make up most of "
     "the delays."},
    {"CO-010.behind_in_step", "{0} pass between the arrival of the rank before it and its own."},
    {"CO-010.behind", "{0} pass between the arrival of the rank before it and its own, in all."},
    {"CO-010.waited", "The others waited {0} for it, summed over ranks and collectives."},
    {"CO-010.ask_holds_rank_up",
     "Ask what holds this rank up: `gpuprof advise --pid {0}`. `gpuprof stats communication` tells "
     "who waited for whom, and `gpuprof stats stragglers` tells in which phase the "
     "rank is slow."},
    {"CO-010.caveat", "The gain assumes that the other ranks come no later than now."},

    {"CP-001.name", "Asynchronous copies of pageable memory hold up the host"},
    {"CP-001.gain", "these copies and their calls take no time"},
    {"CP-001.cuda_copies_pageable_memory",
     "CUDA copies pageable memory through a buffer of its own, and the call waits for this copy."},
    {"CP-001.allocate_host_memory_cudamallochost",
     "Allocate the host's memory with cudaMallocHost, or pin it with cudaHostRegister.",
     "DataLoader(pin_memory=True), or tensor.pin_memory() before .to(device, non_blocking=True). "
     "To the host: copy_ into a pinned tensor.",
     "Let tf.data copy: tf.data.experimental.prefetch_to_device as the last stage.",
     "Move data ahead of time: jax.device_put of the next batch while this one is computed."},
    {"CP-001.pieces", "asynchronous copies from or to pageable memory"},

    {"CP-002.name", "The host waits for copies that it makes itself"},
    {"CP-002.gain", "these copies and their calls take no time"},
    {"CP-002.use_cudamemcpyasync_pinned_memory",
     "Use cudaMemcpyAsync with pinned memory and a stream, and wait where the result is used.",
     "Copy with non_blocking=True from pinned memory. Read results (.item(), .cpu()) rarely.",
     "Keep results on the device: read metrics every few steps, not in each.",
     "Read results rarely: float(x), print(x) and numpy.asarray(x) wait for the device."},
    {"CP-002.pieces", "copies whose call waits for the copy"},

    {"CP-003.name", "Copies run while the GPU computes nothing"},
    {"CP-003.gain", "the copies take no time"},
    {"CP-003.copies_ran_device_host",
     "In {0} only copies ran: {1} to the device, {2} to the host, {3} on devices."},
    {"CP-003.copy_results_host_rarely",
     "Copy results to the host rarely, and without waiting for each copy."},
    {"CP-003.copy_next_batch_while",
     "Copy the next batch while this one is computed: pinned memory and an own stream.",
     "Copy the next batch while this one is computed: DataLoader(pin_memory=True), and "
     ".to(device, non_blocking=True) on a stream of its own.",
     "Copy the next batch while this one is computed: end the dataset with "
     ".prefetch(tf.data.AUTOTUNE), and use prefetch_to_device.",
     "Call jax.device_put for the next batch before you wait for this one."},
    {"CP-003.write_results_where_needed",
     "Write results where they are needed, instead of copying them.",
     "Write results where they are needed: out=, views and in-place operations.", "",
     "Donate buffers that are not needed any more: jax.jit(donate_argnums=...)."},

    {"CP-004.name", "Many small copies follow each other"},
    {"CP-004.gain", "one copy is made for each run of them"},
    {"CP-004.put_pieces_behind_other",
     "Put the pieces behind each other in one buffer, and copy the buffer once.",
     "Copy one tensor: torch.cat or torch.stack on the host, then .to(device); metrics: stack "
     "them on the device, then .cpu() once.",
     "Copy one tensor: tf.concat or tf.stack first.",
     "Give jax.device_put the whole tree of arrays, or one array."},
    {"CP-004.pieces", "small copies behind another one of the same direction"},
    {"CP-004.caveat", "The gain is that of one copy for each run of small copies."},

    {"CP-006.name", "The same number of bytes goes to the host and back within a step"},
    {"CP-006.reason", "equal sizes suggest equal data"},
    {"CP-006.gain", "these copies and their calls take no time"},
    {"CP-006.device_host_data", "Do on the device what the host does with this data.",
     "Do on the device what the host does with this tensor: avoid .cpu(), .numpy() and lists "
     "within the step.",
     "Look for operations without a kernel for the GPU: tf.debugging.set_log_device_placement.",
     "Keep the arrays in JAX: numpy functions copy them to the host. Look for pure_callback."},
    {"CP-006.pieces", "copies to the host, and back"},

    {"CP-007.name", "Pages of managed memory move within steps"},
    {"CP-007.reason", "faults and migrations were timed, but not what waited for them"},
    {"CP-007.pages_moved_missing_times",
     "{0} pages moved or were missing: {1} times in all. The longest: {2}."},
    {"CP-007.move_pages_before_used",
     "Move pages before they are used (cudaMemPrefetchAsync), tell CUDA where they live "
     "(cudaMemAdvise), or use memory of the device. `gpuprof stats unified_memory` lists the "
     "pages."},
    {"CP-007.caveat", "A kernel can compute on other pages while a page moves."},

    {"CP-008.name", "Memory is set again and again"},
    {"CP-008.gain", "the memsets and their calls take no time"},
    {"CP-008.write_results_over_old",
     "Write results over old values instead of clearing first, or clear one buffer at once.",
     "Clear gradients with zero_grad(set_to_none=True). Use torch.empty where all is written.", "",
     ""},
    {"CP-008.pieces", "memsets"},

    {"GP-001.name", "The GPU stands idle between pieces of its work"},
    {"GP-001.time", "For {0} of this time, {1}."},
    {"GP-001.first_work_last", "{0} of {1} from its first work to its last ({2}){3}."},
    {"GP-001.see_gaps_host_did",
     "See the gaps and what the host did in them: `gpuprof stats idle`. `gpuprof stats ops` and "
     "`gpuprof stats stacks` show the host's work."},
    {"GP-001.fix_input",
     "Prepare data ahead on other threads or processes: more workers of the loader, and "
     "prefetching."},
    {"GP-001.fix_output", "Write results less often, or on another thread."},
    {"GP-001.fix_compile",
     "Compile before the work begins: a warm-up, caches of compiled code, shapes that stay the "
     "same."},
    {"GP-001.fix_sync",
     "Launch ahead: wait for results (synchronising calls, .item(), copies to pageable memory) "
     "as late and as rarely as possible. `gpuprof stats sync` lists the waits."},
    {"GP-001.fix_profiler", "Record less: fewer sources (--trace), or a shorter capture."},
    {"GP-001.fix_host",
     "Launch ahead: wait for results (synchronising calls, .item(), copies to pageable memory) "
     "as late and as rarely as possible. Prepare data on other threads."},
    {"GP-001.fix_launch",
     "Launch less often: CUDA graphs (torch.compile(mode=\"reduce-overhead\")), fused kernels, "
     "larger batches."},
    {"GP-001.fix_dependency",
     "See which stream waits for which: `gpuprof stats streams`. Put independent work into "
     "streams that do not wait for each other."},
    {"GP-001.untold_devices",
     "the recording does not show which devices are the same GPU: one process may have used it "
     "while another left it idle"},
    {"GP-001.left_out_processes",
     "other recorded processes, which were not selected, used the GPU too"},
    {"GP-001.unseen_work", "work that began before the capture or ended after it is missing"},
    {"GP-001.lost_events", "events were lost: the GPU may have been busier"},
    {"GP-001.all_timed", "all work of the recorded processes was timed"},
    {"GP-001.shared_device", ", on a device that several processes used"},
    {"GP-001.summed", ", summed over {0} devices"},
    {"GP-001.without_uuid",
     " as processes number them (no UUID was recorded for {0}: some may be the same GPU)"},
    {"GP-001.used_by_several", ", {0} of them used by several processes"},
    {"GP-001.caveat",
     "Time can be gained only in gaps in which there was something to compute. {0}Work of "
     "unrecorded processes on the GPU is not seen."},
    {"GP-001.caveat_untold",
     "The recording does not show which of these devices are the same GPU. One process may have "
     "used it while another left it idle. "},
    {"GP-001.caveat_others",
     "{0} other recorded {0|process|processes} used the GPU too, and their work is not in these "
     "figures. "},

    {"GP-002.name", "The GPU has long gaps without work"},
    {"GP-002.gain", "the host's time in these gaps"},
    {"GP-002.gaps_longer_time_host",
     "{0} gaps of {1} or longer, {2} in all. For {3} of this time the host had not launched the "
     "next work."},
    {"GP-002.host_less_often_another",
     "Do what the host does there less often, on another thread, or behind the launches of the "
     "next step. `gpuprof stats idle` lists the gaps."},
    {"GP-002.learn_host_mark_nvtx",
     "To learn what the host does there, mark it with NVTX ranges, or record calls of Python "
     "functions."},
    {"GP-002.longest", "The longest: {0} at {1}{2}. {3} ends it."},
    {"GP-002.during", ", during {0}"},
    {"GP-002.in_function", ", in the Python function {0}"},
    {"GP-002.caveat", "The gain is measured: that of a host which does none of this."},

    {"GP-003.name", "Kernels let a multiprocessor hold few warps"},
    {"GP-003.reason", "the occupancy that was reached is not known"},
    {"GP-003.use_fewer_registers_launch_bounds",
     "Use fewer registers: __launch_bounds__, -maxrregcount, smaller tiles a thread."},
    {"GP-003.use_less_shared_memory",
     "Use less shared memory a block: smaller tiles, fewer stages of a pipeline."},
    {"GP-003.use_larger_blocks_number", "Use larger blocks: the number of blocks is at its limit."},
    {"GP-003.kernels", "kernels whose occupancy is below {0}"},
    {"GP-003.figure", ", {0}, limited by {1}"},
    {"GP-003.caveat",
     "A kernel that hides latency in other ways gains nothing. Counters tell the occupancy that "
     "was reached: `gpuprof run --gpu-pm=1ms`."},

    {"GP-004.name", "Kernels have fewer blocks than the GPU has multiprocessors"},
    {"GP-004.reason", "what fills the rest of the GPU depends on the program"},
    {"GP-004.give_kernel_blocks_larger",
     "Give the kernel more blocks: a larger batch, smaller tiles, split-K. Or run independent "
     "kernels on several streams.",
     "Use a larger batch, or join small operations (torch.cat, torch.vmap, grouped products). "
     "Custom kernels: smaller tiles, split-K.",
     "Use a larger batch, or join small operations (tf.stack, tf.vectorized_map).",
     "Use a larger batch, or jax.vmap over what runs one by one."},
    {"GP-004.kernels", "kernels that leave multiprocessors without a block"},
    {"GP-004.figure", ", {0} blocks for {1} multiprocessors"},
    {"GP-004.caveat", "The gain assumes that other work fills the idle multiprocessors."},

    {"GP-005.name", "The last wave of blocks leaves most of the GPU idle"},
    {"GP-005.reason", "blocks of different length fill the last wave better"},
    {"GP-005.choose_grid_waves_whole",
     "Choose the grid so that the waves are whole: another tile size, or another batch size. Or "
     "let as many blocks as the GPU holds loop over the tiles."},
    {"GP-005.kernels", "kernels with a nearly empty last wave"},
    {"GP-005.figure", ", {0} waves"},
    {"GP-005.caveat", "The gain assumes that all blocks take the same time."},

    {"GP-006.name", "Matrix products do not use the tensor cores"},
    {"GP-006.gain", "a part of the products"},
    {"GP-006.kernels_time_matrix_products",
     "{0} of the kernels' time is in matrix products and convolutions without tensor cores; the "
     "largest: {1}."},
    {"GP-006.use_mixed_precision_pytorch",
     "Use mixed precision. PyTorch: torch.autocast(\"cuda\", dtype=torch.bfloat16), or float16 "
     "before Ampere; from Ampere on also torch.set_float32_matmul_precision(\"high\"). "
     "TensorFlow: mixed_precision.set_global_policy(\"mixed_float16\")."},
    {"GP-006.convolutions_channels_last_sizes_matrices",
     "Convolutions: channels_last. Sizes of matrices: multiples of 8."},
    {"GP-006.caution_tf32", "products have a mantissa of 10 bits: results differ"},
    {"GP-006.remedy_torch", "PyTorch computes products of 32 bits on tensor cores"},
    {"GP-006.remedy_jax", "JAX computes products of 32 bits on tensor cores"},
    {"GP-006.caveat", "The gain assumes products that are four times as fast, as a lower bound."},

    {"GP-007.name", "Nearly no kernel computes with 16 bits or fewer"},
    {"GP-007.reason", "types are read from the names of kernels"},
    {"GP-007.gain", "a part of these kernels takes no time"},
    {"GP-007.time_kernels_known_type",
     "{0} of the time of kernels of known type is in 16 bits or fewer. {1} is in products and "
     "convolutions of 32 bits; the largest: {2}."},
    {"GP-007.store_compute_float_bfloat",
     "Store and compute in float16 or bfloat16 where the results allow it.",
     "Use mixed precision: torch.autocast(\"cuda\", dtype=torch.bfloat16). With float16 also a "
     "gradient scaler.",
     "Use mixed precision: mixed_precision.set_global_policy(\"mixed_float16\"), with a "
     "LossScaleOptimizer.",
     "Use bfloat16 for parameters and activations (dtype=jnp.bfloat16)."},
    {"GP-007.caveat", "The gain assumes that half of the bits take half of the time."},

    {"GP-008.name", "Matrices have dimensions that slow the tensor cores"},
    {"GP-008.reason", "the kernels may be padded already"},
    {"GP-008.pad_dimensions_weights_vocabularies",
     "Pad dimensions of weights, vocabularies and channels to multiples of {0}; of 64 for the "
     "largest gain. Sizes of batches and sequences: the same."},
    {"GP-008.kernels", "products whose rows do not begin at multiples of 16 bytes"},
    {"GP-008.caveat", "The gain assumes that padded products take half of the time."},

    {"GP-009.name", "Attention runs as single kernels: product, softmax, product"},
    {"GP-009.reason", "attention is known by the order of its kernels"},
    {"GP-009.times_softmax_stands_between",
     "{0} times a softmax stands between two batched products. {1} is between these products. "
     "The largest: {2}."},
    {"GP-009.use_fused_attention_kernel", "Use a fused attention kernel (cuDNN, FlashAttention).",
     "Use torch.nn.functional.scaled_dot_product_attention: it chooses a fused kernel. Hugging "
     "Face: attn_implementation=\"sdpa\".",
     "Use keras.layers.MultiHeadAttention with flash_attention=True, or compile with XLA.",
     "Use jax.nn.dot_product_attention(implementation=\"cudnn\")."},
    {"GP-009.caveat", "The gain is that of the kernels between the products alone."},

    {"GP-013.name", "The GPU runs below its clock"},
    {"GP-013.reason", "kernels that wait for memory gain less"},
    {"GP-013.gain", "what kernels take longer at this clock"},
    {"GP-013.steps_runs_mhz_mean",
     "In the steps it runs at {0} MHz in the mean, of {1} MHz ({2} less), in {3} readings."},
    {"GP-013.driver_reasons_part_readings",
     "The driver's reasons, by their part of the readings: {0}."},
    {"GP-013.sw_power_cap_raise_limit_nvidia",
     "sw_power_cap: raise the limit (nvidia-smi -pl), if the machine allows it. Thermal reasons: "
     "better cooling. hw_power_brake_slowdown: the power supply."},
    {"GP-013.caveat", "The gain assumes that all kernels follow the clock."},

    {"GP-014.name", "The same kernels take longer in later steps"},
    {"GP-014.reason", "the data of the kernels may have changed"},
    {"GP-014.look_clocks_temperature_gpu",
     "Look at the clocks and temperature of the GPU (`gpuprof stats counters`), and for other "
     "programs on it."},
    {"GP-014.clocks_steady_compare_kernels",
     "If the clocks are steady: compare what the kernels read, such as longer sequences or a "
     "larger index."},
    {"GP-014.kernels", "launches that take longer in the second half of the steps"},

    {"GP-015.name", "Kernels change types and layouts again and again"},
    {"GP-015.reason", "some of these changes are needed"},
    {"GP-015.keep_type_layout_through",
     "Keep one type and one layout through the step, or fuse the change into the kernel before "
     "it.",
     "Keep one type and one layout: channels_last for model and input, weights in the type that "
     "they are used in, fewer .contiguous() and .to(). `gpuprof stats kernels --by op` names the "
     "operations.",
     "Keep one type and one layout: channels last, one policy of mixed precision, XLA.",
     "Keep one type through the step, and let XLA fuse the casts: one jax.jit."},
    {"GP-015.kernels", "kernels that only cast, copy or transpose"},

    {"GP-016.name_shared", "Several processes use the same GPU"},
    {"GP-016.name_mig", "The GPU is a part of one that MIG divides"},
    {"GP-016.reason", "the devices are known by their uuid"},
    {"GP-016.gpus_had_work_several", "{0} of {1} GPUs had work of several recorded processes."},
    {"GP-016.recorded_processes_selected_used",
     "{0} recorded processes that were not selected used these GPUs, too."},
    {"GP-016.other_programs_may_use",
     "Other programs may use the other parts: all parts share the link to the host, power and "
     "clocks."},
    {"GP-016.measure_once_gpu_alone",
     "Measure once with the GPU alone. Figures of gaps, kernels and gains hold for the mix that "
     "was recorded."},

    {"GP-017.name", "Large products stay below what their shape allows"},
    {"GP-017.reason", "another shape may allow another rate"},
    {"GP-017.gain", "what these products take beyond that rate"},
    {"GP-017.other_products_same_type", "Other products of the same type reach more: {0}, {1}."},
    {"GP-017.shape_allows_peaks_device",
     "Its shape allows {0}, by the peaks of the device and of its memory."},
    {"GP-017.tune_library_choice_shapes",
     "Tune the library's choice for these shapes, or give it shapes that are multiples of its "
     "tiles.",
     "Tune the choice for these shapes: TORCHINDUCTOR_MAX_AUTOTUNE, TunableOp "
     "(PYTORCH_TUNABLEOP_ENABLED=1) on AMD, a newer cuBLAS or hipBLASLt. Narrower types (fp8) "
     "win more where the model allows them.",
     "Let XLA choose among more algorithms: --xla_gpu_autotune_level=4.",
     "Let XLA choose among more algorithms: --xla_gpu_autotune_level=4."},
    {"GP-017.share", "{0} of the kernels' time is in them. The largest: {1}, {2}."},
    {"GP-017.share_of_peak",
     "{0} of the kernels' time is in them. The largest: {1}, {2} ({3} of the device's peak)."},
    {"GP-017.caveat", "The rates are those that the shapes of the operations ask for."},

    {"ME-001.name", "The memory of the GPU is nearly full"},
    {"ME-001.reason", "measured"},
    {"ME-001.free_used_any_split",
     "Free what is not used any more, or split the work into smaller batches.",
     "Recompute activations (torch.utils.checkpoint), use mixed precision, shard parameters "
     "(FSDP), or accumulate gradients over smaller batches.",
     "Recompute activations (tf.recompute_grad), use mixed precision, or smaller batches.",
     "Recompute activations (jax.checkpoint), donate buffers (donate_argnums), or shard."},
    {"ME-001.most", "At most {0} of {1} ({2}), {3}."},
    {"ME-001.held_by_tensors", "held by tensors, at {0}"},
    {"ME-001.caveat", "A larger input ends the program."},

    {"ME-002.name", "The GPU has memory for larger batches"},
    {"ME-002.reason", "short peaks between two readings are not seen"},
    {"ME-002.most_while_gpu_time",
     "At most {0} of {1} ({2}), {3}, while the GPU has time to spare."},
    {"ME-002.use_larger_batch_results",
     "Use a larger batch, if the results allow it: the same launches do more work."},

    {"ME-003.name", "The allocator reserves much memory that no tensor can use"},
    {"ME-003.reason", "a part may be a cache of blocks that fit again later"},
    {"ME-003.when_tensors_held_most",
     "When tensors held most, at {0}, they held {1} of {2} reserved: {3} was not in use."},
    {"ME-003.use_pool_blocks_few", "Use a pool of blocks of few sizes, or cudaMallocAsync.",
     "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and pad inputs to few sizes.",
     "Set TF_GPU_ALLOCATOR=cuda_malloc_async, and pad inputs to few sizes.",
     "Pad inputs to few sizes."},

    {"ME-004.name", "Each step leaves more memory of the GPU allocated"},
    {"ME-004.reason", "measured in {0} steps"},
    {"ME-004.least_step_allocated_rises",
     "The least that a step has allocated rises from {0} to {1} in {2} steps ({3}): {4} a step."},
    {"ME-004.pace_gpu_full_after",
     "At this pace the {0} of the GPU are full after {1} more steps."},
    {"ME-004.find_released_gpuprof_stats",
     "Find what is not released: `gpuprof stats device_memory` lists live allocations.",
     "Keep numbers, not tensors, across steps (loss.item(), detach()). `gpuprof stats heap` "
     "names the operations whose tensors are live at the end.",
     "Keep numbers, not tensors, across steps, and do not build new functions in the loop.",
     "Drop references to old arrays across steps, or donate them (donate_argnums)."},

    {"ME-005.name", "Steps allocate or free memory of CUDA"},
    {"ME-005.calls_allocate_free_memory",
     "{0}: calls that allocate or free memory, {1} in all. The longest: {2}."},
    {"ME-005.allocate_once_before_loop",
     "Allocate once before the loop, or use cudaMallocAsync with a pool that keeps memory.",
     "PyTorch keeps memory unless empty_cache() is called, or shapes change: "
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
     "Use TF_GPU_ALLOCATOR=cuda_malloc_async.", "Let XLA preallocate."},

    {"ME-006.name", "Memory is allocated from the heap and freed again and again"},
    {"ME-006.reason", "the volume is measured, but its cost is not"},
    {"ME-006.per_step_bytes_live", "{0} per step, {1} of all bytes live less than 10 ms."},
    {"ME-006.reuse_buffers_out_place",
     "Reuse buffers (out=, in-place operations), or preload an allocator that keeps large blocks "
     "(jemalloc, tcmalloc). Without them, large blocks are mapped anew each time."},
    {"ME-006.remedy_mmap", "glibc keeps large blocks instead of mapping them anew each time"},
    {"ME-006.caveat", "The cost was not measured: compare step times before and after."},
};

}  // namespace gpuprof::analysis
