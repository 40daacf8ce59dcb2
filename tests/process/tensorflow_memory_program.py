# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A training of TensorFlow whose products are large enough for the allocator that says what it does.

usage: tensorflow_memory_program.py FOLDER  (the framework's own profiler records it there)
"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"  # its allocator tells the profiler what it does
import tensorflow as tf  # noqa: E402

SIZE = 512
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(1)


def main(folder):
    weights = tf.Variable(tf.random.stateless_normal((SIZE, SIZE), seed=[1, 2]))

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.nn.relu(x @ weights) @ weights) ** 2)
        weights.assign_sub(0.01 * tape.gradient(loss, weights))

    x = tf.random.stateless_normal((SIZE, SIZE), seed=[3, 4])
    train_step(x)
    kept = tf.identity(x) + 1  # lives until the end
    tf.profiler.experimental.start(folder)
    for number in range(4):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            train_step(x)
    tf.profiler.experimental.stop()
    del kept


if __name__ == "__main__":
    main(sys.argv[1])
