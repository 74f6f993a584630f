// RUN: tp-opt %s --split-input-file --tp-shard="mesh=tp=2 topology=%topologies/flat.yaml check-exhaustively" -o %t
// RUN: tp-opt %s --split-input-file --tp-shard="mesh=tp=3 check-exhaustively" -o %t
// RUN: tp-opt %s --split-input-file --tp-shard="mesh=tp=4 topology=%topologies/node8.yaml check-exhaustively" -o %t

// Two matmuls with a nonlinearity between.
tp.parameter @up : tensor<96x32xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @down : tensor<32x96xf32> {id = 1 : i64, init = #tp.init<zeros>}
func.func @mlp(%x: tensor<40x32xf32>) -> tensor<40x32xf32> {
  %up = tp.param @up : tensor<96x32xf32>
  %0 = tp.matmul %x, %up : (tensor<40x32xf32>, tensor<96x32xf32>) -> tensor<40x96xf32>
  %1 = tp.relu %0 : (tensor<40x96xf32>) -> tensor<40x96xf32>
  %down = tp.param @down : tensor<32x96xf32>
  %2 = tp.matmul %1, %down : (tensor<40x96xf32>, tensor<32x96xf32>) -> tensor<40x32xf32>
  return %2 : tensor<40x32xf32>
}

// -----

// A residual, a norm and a bias: values with several consumers.
tp.parameter @gamma : tensor<24xf32> {id = 0 : i64, init = #tp.init<ones>}
tp.parameter @w : tensor<24x24xf32> {id = 1 : i64, init = #tp.init<zeros>}
tp.parameter @bias : tensor<24xf32> {id = 2 : i64, init = #tp.init<zeros>}
func.func @residual(%x: tensor<50x24xf32>) -> tensor<50x24xf32> {
  %gamma = tp.param @gamma : tensor<24xf32>
  %0 = tp.rms_norm %x, %gamma {eps = 1.0e-5 : f64} : (tensor<50x24xf32>, tensor<24xf32>) -> tensor<50x24xf32>
  %w = tp.param @w : tensor<24x24xf32>
  %1 = tp.matmul %0, %w : (tensor<50x24xf32>, tensor<24x24xf32>) -> tensor<50x24xf32>
  %bias = tp.param @bias : tensor<24xf32>
  %2 = tp.add %1, %bias : (tensor<50x24xf32>, tensor<24xf32>) -> tensor<50x24xf32>
  %3 = tp.add %x, %2 : (tensor<50x24xf32>, tensor<50x24xf32>) -> tensor<50x24xf32>
  return %3 : tensor<50x24xf32>
}

// -----

// One weight with two uses, split in one of them only if that pays.
tp.parameter @table : tensor<64x16xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @tied(%ids: tensor<5x7xi32>, %labels: tensor<5x7xi32>) -> tensor<f32> {
  %table = tp.param @table : tensor<64x16xf32>
  %x = tp.embedding %ids, %table : (tensor<5x7xi32>, tensor<64x16xf32>) -> tensor<5x7x16xf32>
  %y = tp.matmul %x, %table : (tensor<5x7x16xf32>, tensor<64x16xf32>) -> tensor<5x7x64xf32>
  %sum, %count = tp.cross_entropy %y, %labels : (tensor<5x7x64xf32>, tensor<5x7xi32>) -> (tensor<f32>, tensor<f32>)
  return %sum : tensor<f32>
}
