// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-verify-phase=phase=local
//
// The local phase: no layouts, no changes of layout, every op has a lowering.

tp.parameter @w : tensor<6xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @legal() {
  %w = tp.param @w : tensor<6xf32>
  %s = tp.sum_squares %w : (tensor<6xf32>) -> tensor<3xf32>
  %t = tp.all_reduce %s over ["tp"] : tensor<3xf32> -> tensor<3xf32>
  tp.output "t", %t : tensor<3xf32>
  tp.update @w, %w : tensor<6xf32>
  return
}

// -----

func.func @composite(%x: tensor<6x9xf32>, %l: tensor<6xi32>) {
  // expected-error@+1 {{'tp.cross_entropy' op has no lowering to local code}}
  %s, %n = tp.cross_entropy %x, %l : (tensor<6x9xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
func.func @change_of_layout(%x: tensor<6xf32, #r1>) {
  // expected-error@+1 {{'tp.f' op has no lowering to local code}}
  %c = tp.f %x over ["tp"] : tensor<6xf32, #r1> -> tensor<6xf32, #c1>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
func.func @layout(%x: tensor<6xf32, #r1>) {
  // expected-error@+1 {{'tp.relu' op has a tensor with a layout, which phase 'local' must not have}}
  %y = tp.relu %x : (tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
#r1 = #tp.layout<#mesh, [_]>
// A step of a split and a replicated parameter.
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<3x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x4xf32, #rows>}
  tp.parameter @b : tensor<4xf32> {id = 1 : i64, init = #tp.init<zeros>, whole = tensor<4xf32, #r1>}
  func.func @split(%ids: tensor<2x5xi32>) {
    %w = tp.param @w : tensor<3x4xf32>
    %b = tp.param @b : tensor<4xf32>
    %x = tp.embedding %ids, %w {layout = #rows} : (tensor<2x5xi32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
    %y = tp.all_reduce %x over ["tp"] : tensor<2x5x4xf32> -> tensor<2x5x4xf32>
    %z = tp.add %y, %b : (tensor<2x5x4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
    %d = tp.embedding_grad %ids, %z {layout = #rows} : (tensor<2x5xi32>, tensor<2x5x4xf32>) -> tensor<3x4xf32>
    tp.output "z", %z : tensor<2x5x4xf32>
    tp.update @w, %d : tensor<3x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<3x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x4xf32, #rows>}
  func.func @no_position(%ids: tensor<2x5xi32>) {
    %w = tp.param @w : tensor<3x4xf32>
    // expected-error@+1 {{'tp.embedding' op has no layout attribute, but what it indexes into is S(0) on axis "tp"}}
    %x = tp.embedding %ids, %w : (tensor<2x5xi32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
#columns = #tp.layout<#mesh, [_, {8 over "tp"}]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<3x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x4xf32, #rows>}
  func.func @another_position(%ids: tensor<2x5xi32>) {
    %w = tp.param @w : tensor<3x4xf32>
    // expected-error@+1 {{'tp.dropout' op has a layout attribute of S(1) on axis "tp", but what it indexes into is S(0)}}
    %x = tp.dropout %w {id = 0 : i64, p = 0.5 : f64, layout = #columns} : (tensor<3x4xf32>) -> tensor<3x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<3x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x4xf32, #rows>}
  func.func @summand_used_as_whole(%ids: tensor<2x5xi32>) {
    %w = tp.param @w : tensor<3x4xf32>
    %x = tp.embedding %ids, %w {layout = #rows} : (tensor<2x5xi32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
    // expected-error@+1 {{'tp.relu' op has operands that are (P) on axis "tp", in which it cannot be used; is a collective missing or one too many, or a layout attribute wrong?}}
    %y = tp.relu %x : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<6x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x4xf32, #r2>}
  func.func @sum_of_copies() {
    %w = tp.param @w : tensor<6x4xf32>
    // expected-error@+1 {{'tp.all_reduce' op reads a value that is R on axis "tp", wanted P; is a collective missing or one too many?}}
    %y = tp.all_reduce %w over ["tp"] : tensor<6x4xf32> -> tensor<6x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#columns = #tp.layout<#mesh, [_, {8 over "tp"}]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<6x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x8xf32, #columns>}
  func.func @sum_of_maxima() {
    %w = tp.param @w : tensor<6x4xf32>
    %m = tp.row_max %w : (tensor<6x4xf32>) -> tensor<6xf32>
    // expected-error@+1 {{'tp.all_reduce' op reads a value that is P<max> on axis "tp", wanted P; is a collective missing or one too many?}}
    %y = tp.all_reduce %m over ["tp"] : tensor<6xf32> -> tensor<6xf32>
    return
  }
}

// -----

// Behind a reshape of a dimension of size 1 a split may stand in any dimension:
// the rule and a position say in which.
#mesh = #tp.mesh<"tp"=2>
#columns = #tp.layout<#mesh, [_, {8 over "tp"}]>
#heads = #tp.layout<#mesh, [_, {2 over "tp"}, _]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<6x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x8xf32, #columns>}
  func.func @one_head_a_rank() {
    %w = tp.param @w : tensor<6x4xf32>
    %h = tp.reshape %w : (tensor<6x4xf32>) -> tensor<6x1x4xf32>
    %d = tp.dropout %h {id = 0 : i64, p = 0.5 : f64, layout = #heads} : (tensor<6x1x4xf32>) -> tensor<6x1x4xf32>
    %x = tp.reshape %d : (tensor<6x1x4xf32>) -> tensor<6x4xf32>
    tp.update @w, %x : tensor<6x4xf32>
    return
  }
}

// -----

func.func @same_name(%x: tensor<6xf32>) {
  tp.output "x", %x : tensor<6xf32>
  // expected-error@+1 {{'tp.output' op lets a second value leave as "x"; give it a name of its own}}
  tp.output "x", %x : tensor<6xf32>
  return
}

// -----

module attributes {tp.optimizer = {}} {
  // expected-error@+1 {{has an optimizer, but no tp.output "grad_norm"}}
  func.func @no_norm(%x: tensor<f32>) {
    tp.output "loss", %x : tensor<f32>
    return
  }
}

// -----

tp.parameter @w : tensor<6xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @updated_twice() {
  %w = tp.param @w : tensor<6xf32>
  tp.update @w, %w : tensor<6xf32>
  // expected-error@+1 {{'tp.update' op updates @w a second time}}
  tp.update @w, %w : tensor<6xf32>
  return
}

// -----

tp.parameter @w : tensor<6xf32> {id = 0 : i64, init = #tp.init<zeros>, frozen}
func.func @updated_though_frozen() {
  %w = tp.param @w : tensor<6xf32>
  // expected-error@+1 {{'tp.update' op updates @w, which is frozen}}
  tp.update @w, %w : tensor<6xf32>
  return
}

// -----

tp.parameter @w : tensor<6xf32> {id = 0 : i64, init = #tp.init<zeros>}
// expected-error@+1 {{'tp.state' op is kept for training, but no tp.update sets @w}}
tp.state @w.exp_avg of @w "exp_avg" : tensor<6xf32>
func.func @not_updated() {
  %m = tp.param @w.exp_avg : tensor<6xf32>
  tp.update @w.exp_avg, %m : tensor<6xf32>
  return
}

// -----

tp.parameter @w : tensor<6xbf16> {id = 0 : i64, init = #tp.init<zeros>}
tp.state @w.master of @w "master" : tensor<6xf32> {master}
// expected-error@+1 {{'tp.state' op is the second master of @w}}
tp.state @w.other of @w "other" : tensor<6xf32> {master}
func.func @two_masters() {
  %w = tp.param @w : tensor<6xbf16>
  %m = tp.param @w.master : tensor<6xf32>
  tp.update @w, %w : tensor<6xbf16>
  tp.update @w.master, %m : tensor<6xf32>
  tp.update @w.other, %m : tensor<6xf32>
  return
}

// -----

tp.parameter @w : tensor<6xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @memory_leaves() {
  %w = tp.param @w : tensor<6xf32>
  %r = tp.reshape %w : (tensor<6xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{'tp.output' op lets the memory of @w leave, which the step updates; a copy (tp.scale by 1) keeps the value at the start}}
  tp.output "w", %r : tensor<2x3xf32>
  tp.update @w, %w : tensor<6xf32>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#pad = #tp.layout<#mesh, [{5 pad 6 over "tp"}]>
func.func @shared_mask(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tp.mask_padding' op has another number of uses than one; each op that needs a mask has its own}}
  %m = tp.mask_padding %x with 0.0 {layout = #pad} : tensor<3xf32> -> tensor<3xf32>
  %s = tp.sum_squares %m : (tensor<3xf32>) -> tensor<3xf32>
  %t = tp.sum_squares %m : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#pad = #tp.layout<#mesh, [_, {5 pad 6 over "tp"}]>
func.func @mask_for_nothing(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tp.mask_padding' op is needed by nothing: 'tp.relu' takes any padding}}
  %m = tp.mask_padding %x with 0.0 {layout = #pad} : tensor<2x3xf32> -> tensor<2x3xf32>
  %r = tp.relu %m : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#pad = #tp.layout<#mesh, [_, {5 pad 6 over "tp"}]>
func.func @mask_of_a_maximum(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tp.mask_padding' op sets padding to 0.000000, but 'tp.row_max' needs -inf}}
  %m = tp.mask_padding %x with 0.0 {layout = #pad} : tensor<2x3xf32> -> tensor<2x3xf32>
  %r = tp.row_max %m : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

tp.parameter @w : tensor<6xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @evaluate() attributes {tp.forward} {
  %w = tp.param @w : tensor<6xf32>
  // expected-error@+1 {{'tp.update' op updates @w, but 'evaluate' is forward only}}
  tp.update @w, %w : tensor<6xf32>
  return
}

// -----

// With an optimizer, what is trained has a loss and a norm; what is only
// evaluated need not.
module attributes {tp.optimizer = {beta1 = 0.9 : f64}} {
  tp.parameter @w : tensor<6xf32> {id = 0 : i64, init = #tp.init<zeros>}
  func.func @evaluate() attributes {tp.forward} {
    %w = tp.param @w : tensor<6xf32>
    tp.output "w", %w : tensor<6xf32>
    return
  }
  // expected-error@+1 {{has an optimizer, but no tp.output "grad_norm"}}
  func.func @main(%loss: tensor<f32>) {
    tp.output "loss", %loss : tensor<f32>
    return
  }
}

// -----

// What leaves, and what a symbol gets, is in the state that its whole type says.
#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
#r1 = #tp.layout<#mesh, [_]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<3x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x4xf32, #rows>}
  tp.parameter @b : tensor<4xf32> {id = 1 : i64, init = #tp.init<zeros>, whole = tensor<4xf32, #r1>}
  func.func @update_by_a_summand() {
    %w = tp.param @w : tensor<3x4xf32>
    %s = tp.sum_leading %w : (tensor<3x4xf32>) -> tensor<4xf32>
    // expected-error@+1 {{'tp.update' op reads a value that is P on axis "tp", wanted R; is a collective missing or one too many?}}
    tp.update @b, %s : tensor<4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
#r2 = #tp.layout<#mesh, [_, _]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<3x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x4xf32, #rows>}
  tp.parameter @v : tensor<3x4xf32> {id = 1 : i64, init = #tp.init<zeros>, whole = tensor<3x4xf32, #r2>}
  func.func @update_of_blocks_by_a_whole() {
    %v = tp.param @v : tensor<3x4xf32>
    // expected-error@+1 {{'tp.update' op reads a value that is R on axis "tp", wanted S(0); is a collective missing or one too many?}}
    tp.update @w, %v : tensor<3x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
#r1 = #tp.layout<#mesh, [_]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<3x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x4xf32, #rows>}
  func.func @output_of_a_summand() {
    %w = tp.param @w : tensor<3x4xf32>
    %s = tp.sum_leading %w : (tensor<3x4xf32>) -> tensor<4xf32>
    // expected-error@+1 {{'tp.output' op reads a value that is P on axis "tp", wanted R; is a collective missing or one too many?}}
    tp.output "s", %s : tensor<4xf32>
    return
  }
}

// -----

// Two feature axes, each followed by itself: a collective over one leaves the
// state on the other as it was.
#mesh = #tp.mesh<"a"=2, "b"=3>
#rows = #tp.layout<#mesh, [{4 over "a"}, _]>
#columns = #tp.layout<#mesh, [_, {6 over "b"}]>
#both = #tp.layout<#mesh, [{4 over "a"}, {6 over "b"}]>
#r2 = #tp.layout<#mesh, [_, _]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<2x2xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<4x6xf32, #both>}
  func.func @two_axes() {
    %w = tp.param @w : tensor<2x2xf32>
    %x = tp.all_gather %w over ["a"] {dim = 0 : i64} : tensor<2x2xf32> -> tensor<4x2xf32>
    tp.output "x", %x {whole = tensor<4x6xf32, #columns>} : tensor<4x2xf32>
    %y = tp.all_gather %x over ["b"] {dim = 1 : i64} : tensor<4x2xf32> -> tensor<4x6xf32>
    tp.output "y", %y {whole = tensor<4x6xf32, #r2>} : tensor<4x6xf32>
    %z = tp.local_slice %x over ["a"] {dim = 0 : i64, layout = #rows} : tensor<4x2xf32> -> tensor<2x2xf32>
    tp.update @w, %z : tensor<2x2xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"a"=2, "b"=2>
#columns = #tp.layout<#mesh, [_, {6 over "b"}]>
#r2 = #tp.layout<#mesh, [_, _]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<6x3xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x6xf32, #columns>}
  func.func @sum_over_the_other_axis(%x: tensor<4x6xf32>) {
    %w = tp.param @w : tensor<6x3xf32>
    %v = tp.local_slice %x over ["b"] {dim = 1 : i64, layout = #tp.layout<#mesh, [_, {6 over "b"}]>} : tensor<4x6xf32> -> tensor<4x3xf32>
    %p = tp.matmul %v, %w : (tensor<4x3xf32>, tensor<6x3xf32>) -> tensor<4x6xf32>
    // expected-error@+1 {{'tp.all_reduce' op reads a value that is R on axis "a", wanted P; is a collective missing or one too many?}}
    %y = tp.all_reduce %p over ["a"] : tensor<4x6xf32> -> tensor<4x6xf32>
    tp.output "y", %y {whole = tensor<4x6xf32, #r2>} : tensor<4x6xf32>
    return
  }
}
