# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A training loop of TensorFlow for tests/bench/tensorflow_cost.py. Prints the processor time of a step, of all threads, in microseconds.

usage: tensorflow_steps.py STEPS UNITS BATCH [FOLDER]   (FOLDER: TensorFlow's own profiler records the measured steps)
"""

import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf  # noqa: E402

WARM_STEPS = 1000  # costs of operations are learned, and marks of all operations are made
steps, units, batch = map(int, sys.argv[1:4])
folder = sys.argv[4] if len(sys.argv) > 4 else None
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(1)
first = tf.Variable(tf.random.stateless_normal((784, units), [1, 2]) * 0.01)
second = tf.Variable(tf.random.stateless_normal((units, 10), [1, 3]) * 0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = tf.nn.relu(x @ first) @ second
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    for variable, gradient in zip((first, second), tape.gradient(loss, (first, second))):
        variable.assign_sub(0.01 * gradient)
    return loss


elements = tf.data.Dataset.range(WARM_STEPS + steps).map(lambda i: (tf.random.stateless_normal((batch, 784), seed=[7, tf.cast(i, tf.int32)]), tf.zeros((batch,), tf.int64)))
begin = 0.0
for number, (x, y) in enumerate(elements.prefetch(2)):
    if number == WARM_STEPS:
        if folder:
            tf.profiler.experimental.start(folder)
        begin = time.process_time()
    train_step(x, y)
took = time.process_time() - begin
if folder:
    tf.profiler.experimental.stop()
print(took / steps * 1e6)
