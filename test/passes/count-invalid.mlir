// RUN: tp-opt %s --split-input-file --tp-count --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Where a step is not what was predicted, the first op that was not is named.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 0 : i64, flops = 0 : i64, picoseconds = 4800 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1 : i64}}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    // expected-error@+1 {{'tp.relu' op tp-count: internal error: this tp.relu rows(0, 96) is done 2 times in the step, predicted were 1}}
    %z = tp.relu %y : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 0 : i64, flops = 0 : i64, picoseconds = 4800 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1 : i64}}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    // expected-error@+1 {{'tp.all_reduce' op tp-count: internal error: this tp.all_reduce all_reduce(96, 2, 1) is done 1 times in the step, predicted were 0}}
    %z = tp.all_reduce %y over ["tp"] : tensor<6x4xf32> -> tensor<6x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{tp-count: internal error: tp.relu rows(0, 96) was predicted 1 times, and is done 0 times in the step}}
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 0 : i64, flops = 0 : i64, picoseconds = 4800 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1 : i64}}} {
    return
  }
}

// -----

// What the backward reads of the forward: x is an argument, y is not.
#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{tp-count: internal error: the backward reads 96 bytes of forward values, predicted were 0}}
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 0 : i64, flops = 0 : i64, picoseconds = 9600 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1 : i64, "tp.add rows(0, 96)" = 1 : i64}}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    tp.next ^backward
  ^backward:
    %z = tp.add %y, %x : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{tp-count: internal error: the totals differ, though their parts are equal}}
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 0 : i64, flops = 0 : i64, picoseconds = 4801 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1 : i64}}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{tp.topology is not what tp-shard writes}}
module attributes {tp.mesh = #mesh, tp.topology = {name = "none"}} {
  func.func @main(%x: tensor<6x4xf32>) {
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{tp-count: internal error: the totals differ, though their parts are equal}}
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 1 : i64, collectives = 0 : i64, flops = 0 : i64, picoseconds = 4800 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1 : i64}}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{tp-count: internal error: the totals differ, though their parts are equal}}
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 1 : i64, flops = 0 : i64, picoseconds = 4800 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1 : i64}}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{tp-count: internal error: the totals differ, though their parts are equal}}
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 0 : i64, flops = 1 : i64, picoseconds = 4800 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1 : i64}}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return
  }
}

// -----

// A prediction that cannot be read is none that holds.
#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{has a tp.predicted that is not what tp-shard writes; run tp-shard again}}
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 0 : i64, picoseconds = 4800 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1 : i64}}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{has a tp.predicted that is not what tp-shard writes; run tp-shard again}}
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 0 : i64, flops = 0 : i32, picoseconds = 4800 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1 : i64}}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{has a tp.predicted that is not what tp-shard writes; run tp-shard again}}
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 0 : i64, flops = 0 : i64, picoseconds = 4800 : i64, saved_bytes = 0 : i64}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{has a tp.predicted that is not what tp-shard writes; run tp-shard again}}
  func.func @main(%x: tensor<6x4xf32>) attributes {tp.predicted = {bytes = 0 : i64, collectives = 0 : i64, flops = 0 : i64, picoseconds = 4800 : i64, saved_bytes = 0 : i64, work = {"tp.relu rows(0, 96)" = 1.0 : f64}}} {
    %y = tp.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return
  }
}
