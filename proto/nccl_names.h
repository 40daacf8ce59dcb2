// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How a trace has what NCCL tells its profiler plugin. Each collective and each message is a mark,
// named by the operation ("AllReduce"), with the values below. The recorder writes them
// (inject/nccl), and analysis reads them. Any thread.

#pragma once

namespace gpuprof::proto {

// The domain of the marks.
inline constexpr char kNcclProfilerDomain[] = "NCCL profiler";

// The hash that all ranks of a communicator share, and the name that the program gave it.
inline constexpr char kNcclCommunicator[] = "communicator";
inline constexpr char kNcclCommunicatorName[] = "communicator name";
// Among the communicator's collectives of this operation, from 0. -1: a message. What a graph runs
// again is not counted.
inline constexpr char kNcclNumber[] = "number";
// A rank's part of what all gather, and of what each keeps of a sum. Otherwise the message.
inline constexpr char kNcclBytes[] = "bytes";
// 0: NCCL before 2.26 does not tell them.
inline constexpr char kNcclRanks[] = "ranks";
inline constexpr char kNcclNodes[] = "nodes";
inline constexpr char kNcclRank[] = "rank";
// The other rank of a message, or the root of a collective.
inline constexpr char kNcclPeer[] = "peer";
inline constexpr char kNcclRoot[] = "root";
inline constexpr char kNcclChannels[] = "channels";
inline constexpr char kNcclAlgorithm[] = "algorithm";
inline constexpr char kNcclProtocol[] = "protocol";
inline constexpr char kNcclType[] = "type";

}  // namespace gpuprof::proto
