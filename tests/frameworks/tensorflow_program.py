# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Small trainings with TensorFlow, whose steps and elements are known. Prints losses as hexadecimal floats.

usage: tensorflow_program.py fit|loop|eager STEPS
       tensorflow_program.py numbered STEPS FOLDER  (its steps have numbers, which TensorFlow marks while its profiler records)
       tensorflow_program.py profile STEPS FOLDER   (the framework's own profiler records ten steps in the middle)
       tensorflow_program.py fork STEPS             (a child is forked between two trainings)
       tensorflow_program.py slow STEPS FILE        (a map of Python's sleeps; FILE gets what the loop waited, and its time)
       tensorflow_program.py sections STEPS         (a training for each line of standard input)
"""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import keras  # noqa: E402
import tensorflow as tf  # noqa: E402

BATCH = 8
tf.config.threading.set_inter_op_parallelism_threads(2)
tf.config.threading.set_intra_op_parallelism_threads(1)


def dataset(steps):
    """Elements from one stage each: a map in parallel, batches, and a prefetch."""
    made = tf.data.Dataset.range(steps * BATCH)
    made = made.map(lambda i: (tf.random.stateless_normal((64,), seed=[7, tf.cast(i, tf.int32)]), tf.cast(i % 2, tf.float32)), num_parallel_calls=2)
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.map_and_batch_fusion = False
    return made.batch(BATCH, drop_remainder=True).prefetch(2).with_options(options)


def model():
    keras.utils.set_random_seed(1)
    made = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
    made.compile(optimizer="sgd", loss="mse")
    return made


def fit(steps, callbacks=()):
    return model().fit(dataset(steps), epochs=1, verbose=0, callbacks=list(callbacks)).history["loss"][-1]


def loop(steps, numbered=False):
    weights = tf.Variable(tf.random.stateless_normal((64, 1), seed=[1, 2]))

    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.squeeze(x @ weights) - y) ** 2)
        weights.assign_sub(0.01 * tape.gradient(loss, weights))
        return loss

    run = tf.function(train_step)
    last = None
    for number, (x, y) in enumerate(dataset(steps)):
        if numbered:
            with tf.profiler.experimental.Trace("train", step_num=100 + number, _r=1):
                last = run(x, y)
        else:
            last = run(x, y)
    return float(last)


def eager(steps):
    weights = tf.Variable(tf.ones((64, 1)))
    for x, y in dataset(steps):
        weights.assign_sub(0.001 * tf.reduce_mean(x * (x @ weights - y[:, None]), 0)[:, None])
    return float(tf.reduce_sum(weights))


def slow(steps, file):
    """A serial map that sleeps for 4 ms, and a loop that sleeps for 1 ms."""
    def late(i):
        time.sleep(0.004)
        return i

    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.map_and_batch_fusion = False
    made = tf.data.Dataset.range(steps).map(lambda i: tf.numpy_function(late, [i], tf.int64)).batch(2).prefetch(1).with_options(options)
    total, waited, begun = 0, 0.0, time.monotonic()
    elements = iter(made)
    while True:
        asked = time.monotonic()
        element = next(elements, None)
        waited += time.monotonic() - asked
        if element is None:
            break
        total += int(tf.reduce_sum(element))
        time.sleep(0.001)
    with open(file, "w") as out:
        json.dump({"waited_s": waited, "all_s": time.monotonic() - begun}, out)
    return total


class Profiled(keras.callbacks.Callback):
    """What TensorBoard's callback does for `profile_batch`."""

    def __init__(self, folder, first):
        super().__init__()
        self.folder, self.first = folder, first

    def on_train_batch_begin(self, batch, logs=None):
        if batch == self.first:
            tf.profiler.experimental.start(self.folder)

    def on_train_batch_end(self, batch, logs=None):
        if batch == self.first + 9:
            tf.profiler.experimental.stop()


def main():
    what, steps = sys.argv[1], int(sys.argv[2])
    if what == "fit":
        losses = [fit(steps)]
    elif what == "loop":
        losses = [loop(steps)]
    elif what == "numbered":
        tf.profiler.experimental.start(sys.argv[3])
        losses = [loop(steps, numbered=True)]
        tf.profiler.experimental.stop()
    elif what == "slow":
        losses = [slow(steps, sys.argv[3])]
    elif what == "eager":
        losses = [eager(steps)]
    elif what == "profile":
        losses = [fit(steps, [Profiled(sys.argv[3], steps // 2)])]
    elif what == "fork":
        losses = [fit(steps)]
        child = os.fork()
        if child == 0:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        losses.append(fit(steps))
    else:
        print("ready", flush=True)
        for _ in sys.stdin:
            print(float(fit(steps)).hex(), flush=True)
        return
    print(json.dumps([float(loss).hex() for loss in losses]))


main()
