// RUN: not tp-opt %s --tp-optimize=clip-grad-norm=nan 2>&1 | FileCheck %s --check-prefix=CLIP
// RUN: not tp-opt %s --tp-optimize=clip-grad-norm=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tp-opt %s --tp-optimize=weight-decay=nan 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not tp-opt %s --tp-optimize=beta2=1 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not tp-opt %s --tp-optimize=eps=1e-60 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not tp-opt %s --tp-optimize=beta1=-0.1 2>&1 | FileCheck %s --check-prefix=BETA1
// RUN: not tp-opt %s --tp-optimize=beta1=1 2>&1 | FileCheck %s --check-prefix=BETA1
// RUN: not tp-opt %s --tp-optimize=beta2=-0.1 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not tp-opt %s --tp-optimize=eps=0 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not tp-opt %s --tp-optimize=eps=-1e-8 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not tp-opt %s --tp-optimize=eps=inf 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not tp-opt %s --tp-optimize=weight-decay=-0.1 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not tp-opt %s --tp-optimize=weight-decay=1e39 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not tp-opt %s --tp-optimize=clip-grad-norm=inf 2>&1 | FileCheck %s --check-prefix=CLIP
// RUN: not tp-opt %s --tp-optimize=clip-grad-norm=1e-60 2>&1 | FileCheck %s --check-prefix=CLIP
// RUN: tp-opt %s --tp-optimize=beta1=0 -o /dev/null
// RUN: tp-opt %s --tp-optimize=beta2=0 -o /dev/null
// RUN: tp-opt %s --tp-optimize=weight-decay=0 -o /dev/null
// RUN: tp-opt %s --tp-optimize=clip-grad-norm=0 -o /dev/null
// RUN: tp-opt %s --tp-optimize=eps=1e-30 -o /dev/null
//
// Numbers that are none, also where no op takes them: there is no clipping by
// NaN, and what has rank 1 does not decay.

// CLIP: error: tp-optimize: clip-grad-norm is {{.*}}; wanted
// NEGATIVE: error: tp-optimize: clip-grad-norm is {{.*}}; wanted
// DECAY: error: tp-optimize: weight-decay is {{.*}}; wanted
// BETA1: error: tp-optimize: beta1 is {{.*}}; wanted
// BETA: error: tp-optimize: beta2 is {{.*}}; wanted
// EPS: error: tp-optimize: eps is {{.*}}; wanted
tp.parameter @w : tensor<6xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @step() {
  %w = tp.param @w : tensor<6xf32>
  tp.output "gradient" gradient @w, %w : tensor<6xf32>
  return
}
