// RUN: tp-opt %s --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-verify-phase=phase=steps

// expected-error@+1 {{tp-verify-phase: no phase is called 'steps'; wanted graph, sharded, step, local or fused}}
module {
  func.func @main() {
    return
  }
}
