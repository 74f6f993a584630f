// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of the tests' plans.

#include <stdint.h>

// Adds ints[0] to the int64 at pointers[0].
void add_int(void *const *pointers, const int64_t *ints) {
  *(int64_t *)pointers[0] += ints[0];
}

// A toy training step: weights w [block], a rank's part of the vocabulary from
// first = block * coordinate on; velocity m. For each label: the loss gains
// (w - 1)^2, and w follows momentum. Writes the sum to `loss`.
// pointers: w, m, labels, scalars, loss; ints: labels, block.
void toy_train(void *const *pointers, const int64_t *ints) {
  float *w = pointers[0], *m = pointers[1], *loss = pointers[4];
  const int32_t *labels = pointers[2];
  const float rate = *(const float *)pointers[3];
  const int64_t *coordinates = (const int64_t *)((char *)pointers[3] + 32);
  int64_t first = ints[1] * coordinates[0];
  float sum = 0;
  for (int64_t i = 0; i < ints[0]; ++i) {
    int64_t at = labels[i] - first;
    if (labels[i] < 0 || at < 0 || at >= ints[1])
      continue;
    float error = w[at] - 1;
    sum += error * error;
    m[at] = 0.5f * m[at] + error;
    w[at] -= rate * m[at];
  }
  *loss = sum;
}
