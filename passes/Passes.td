// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes, in the order of the way of a model (docs/design.md).

#ifndef COLROW_PASSES_TD
#define COLROW_PASSES_TD

include "mlir/Pass/PassBase.td"

def CompleteInputs : Pass<"tp-complete-inputs", "mlir::ModuleOp"> {
  let summary = "say of every argument what fills it";
  let description = [{
    What a `tp.input` leaves open is decided here, on whole shapes, and stays:
    the dimension of the batch, what padding rows hold, and the range of
    integers: the smallest table that they index. Each input has a range of its
    own, so tables of different size do not mix. An argument without `tp.input`
    becomes data of its own name.

    Input:
    ```mlir
    func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %table: tensor<64x4xf32>) -> tensor<2x8x4xf32> {
      %y = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<64x4xf32>) -> tensor<2x8x4xf32>
      return %y : tensor<2x8x4xf32>
    }
    ```
    Output:
    ```mlir
    func.func @main(
        %ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids", batch = 0, low = 0, high = 64, padding = 0>},
        %table: tensor<64x4xf32> {tp.input = #tp.input<data "arg1", padding = 0>}) -> tensor<2x8x4xf32> {
      %y = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<64x4xf32>) -> tensor<2x8x4xf32>
      return %y : tensor<2x8x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::colrow::tp::TPDialect"];
}

def MixedPrecision : Pass<"tp-mixed-precision", "mlir::ModuleOp"> {
  let summary = "choose which values are bf16, and make the casts ops";
  let description = [{
    Contractions (what a work item says is a product or an attention) take and
    give bf16. What takes statistics of rows (`stats` in a factor rule: norms)
    takes and gives f32. Every other op runs in the types that it gets, if its
    constraints allow them, else in f32, to which values of mixed types are
    widened; so activations between contractions are bf16, and the residual
    stream, which begins with parameters and meets each layer in a sum, is f32.

    A parameter that such an op reads in bf16 is stored in bf16. `tp-optimize`
    gives it a float32 master; one that is not trained would have none, and
    stays f32 where others are trained. What leaves a function keeps its type.

    With `grad-reduce=bf16` the gradients of these parameters that are summed over
    ranks are so in bf16: their `tp.param` in the trained function says
    `round_shares`, which later passes obey.

    Before: a graph in f32. After: the same graph, with `tp.cast` where types
    meet; one cast of a value serves all its uses.

    Input:
    ```mlir
    tp.parameter @g : tensor<4xf32> {id = 0 : i64, init = #tp.init<ones>}
    tp.parameter @w : tensor<8x4xf32> {id = 1 : i64, init = #tp.init<zeros>}
    func.func @main(%x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {tp.forward} {
      %g = tp.param @g : tensor<4xf32>
      %w = tp.param @w : tensor<8x4xf32>
      %n = tp.rms_norm %x, %g {eps = 0.1 : f64} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
      %h = tp.matmul %n, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
      %y = tp.gelu %h : (tensor<2x8xf32>) -> tensor<2x8xf32>
      return %y : tensor<2x8xf32>
    }
    ```
    Output:
    ```mlir
    tp.parameter @g : tensor<4xf32> {id = 0 : i64, init = #tp.init<ones>}
    tp.parameter @w : tensor<8x4xbf16> {id = 1 : i64, init = #tp.init<zeros>}
    func.func @main(%x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {tp.forward} {
      %g = tp.param @g : tensor<4xf32>
      %w = tp.param @w : tensor<8x4xbf16>
      %n = tp.rms_norm %x, %g {eps = 0.1 : f64} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
      %c = tp.cast %n : (tensor<2x4xf32>) -> tensor<2x4xbf16>
      %h = tp.matmul %c, %w : (tensor<2x4xbf16>, tensor<8x4xbf16>) -> tensor<2x8xbf16>
      %y = tp.gelu %h : (tensor<2x8xbf16>) -> tensor<2x8xbf16>
      %r = tp.cast %y : (tensor<2x8xbf16>) -> tensor<2x8xf32>
      return %r : tensor<2x8xf32>
    }
    ```
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", "\"bf16\"",
           "bf16; a graph in f32 needs no such pass">,
    Option<"gradReduce", "grad-reduce", "std::string", "\"f32\"",
           "f32, or bf16 for gradients of bf16 parameters that are summed over "
           "ranks">
  ];
  let dependentDialects = ["::colrow::tp::TPDialect"];
}

def Shard : Pass<"tp-shard", "mlir::ModuleOp"> {
  let summary = "choose every tensor's layout on the mesh";
  let description = [{
    Minimises predicted time (compute, communication in both directions,
    update) exactly within the axes' roles, and writes the layouts into the
    types; each op gets `tp.ways`, how it is used on each axis. Pins are
    obeyed. What nothing reads is erased first, and `tp.stop_gradient` put before
    uses of a value that do not reach the loss while others do.

    Layouts of a trained function are chosen first; functions that are forward
    only take the parameters as it stores them, and choose the rest. What only
    they read is stored as the first of them likes it.

    Before: a graph of tp ops on whole tensors. After: every tensor has a
    layout, and ops' results follow from their ways; operands may still need
    changes of layout. What nothing reads is gone, and each parameter is read
    once. A function says in `tp.predicted` what it will do, and the module in
    `tp.topology` on which machine, if one was given.

    Input:
    ```mlir
    tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
    func.func @main(%x: tensor<2x4xf32>) -> tensor<2x8xf32> {
      %w = tp.param @w : tensor<8x4xf32>
      %y = tp.matmul %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
      return %y : tensor<2x8xf32>
    }
    ```
    Output with `mesh=tp=2 pin=w=0:tp`:
    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #r = #tp.layout<#mesh, [_, _]>
    #rows = #tp.layout<#mesh, [{8 over "tp"}, _]>
    #columns = #tp.layout<#mesh, [_, {8 over "tp"} ]>
    tp.parameter @w : tensor<8x4xf32, #rows> {gradient = #rows, id = 0 : i64, init = #tp.init<zeros>, state = #rows}
    func.func @main(%x: tensor<2x4xf32, #r>) -> tensor<2x8xf32, #columns> {
      %w = tp.param @w : tensor<8x4xf32, #rows>
      %y = tp.matmul %x, %w {tp.ways = {tp = "k"}}
        : (tensor<2x4xf32, #r>, tensor<8x4xf32, #rows>) -> tensor<2x8xf32, #columns>
      return %y : tensor<2x8xf32, #columns>
    }
    ```
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"tp=1\"", "Mesh, as in tp=4">,
    Option<"topology", "topology", "std::string", "",
           "Topology file; without one the stated defaults">,
    ListOption<"pins", "pin", "std::string",
               "PARAM=DIM:AXIS: store a parameter split on a dimension">,
    Option<"checkExhaustively", "check-exhaustively", "bool", "false",
           "Compare with all assignments; small graphs only">
  ];
  let statistics = [
    Statistic<"transitions", "solver-transitions", "Distinct solver steps">
  ];
  let dependentDialects = ["::colrow::tp::TPDialect"];
}

def InsertConjugates : Pass<"tp-insert-conjugates", "mlir::ModuleOp"> {
  let summary = "make f, g and the other changes of layout ops";
  let description = [{
    Decomposes composite ops (cross-entropy), then gives every operand the state
    that the op's way wants. A value is converted at most once to each state,
    and its consumers share the result: Q, K and V share one f.

    Before: the output of `tp-shard`. After: no `tp.ways`; every op passes the
    strict verifier of the four ways.

    Input: the output of `tp-shard` above.
    Output:
    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #r = #tp.layout<#mesh, [_, _]>
    #c = #tp.layout<#mesh, [_, _] copied "tp">
    #rows = #tp.layout<#mesh, [{8 over "tp"}, _]>
    #columns = #tp.layout<#mesh, [_, {8 over "tp"} ]>
    %c = tp.f %x over ["tp"] {reason = "tp.matmul wants C"}
      : tensor<2x4xf32, #r> -> tensor<2x4xf32, #c>
    %y = tp.matmul %c, %w
      : (tensor<2x4xf32, #c>, tensor<8x4xf32, #rows>) -> tensor<2x8xf32, #columns>
    ```
  }];
  let statistics = [
    Statistic<"inserted", "changes-inserted", "Changes of layout inserted">
  ];
  let dependentDialects = ["::colrow::tp::TPDialect"];
}

def Differentiate : Pass<"tp-differentiate", "mlir::ModuleOp"> {
  let summary = "derive the backward graph";
  let description = [{
    Goes through the ops of the trained function, if there is one, backwards from
    the result with role "loss". Layouts
    come by themselves: a gradient's type is the dual of its value's, so every
    change of layout turns into its conjugate. Results of all functions become
    `tp.output`s, and of the trained one so do each parameter's gradient and, where the loss is a
    `tp.mean`, its count as "token_count": a step whose count is 0 went right.

    Values that do not reach the loss have no backward. A gradient that an op
    does not give and a trained parameter wants is an error at the op.

    Before: one block. After: three in the trained function, the phases forward,
    backward and update, the first two ended by `tp.next`; the update is empty yet.

    Input: `%c = tp.f %x over ["tp"]`, used by a matmul.
    Output, where `%dc` is the matmul's gradient in `%c`:
    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #r = #tp.layout<#mesh, [_, _]>
    #p = #tp.layout<#mesh, [_, _] partial "tp">
    %dx = tp.g %dc over ["tp"] {reason = "gradient of: tp.matmul wants C"}
      : tensor<2x4xf32, #p> -> tensor<2x4xf32, #r>
    ```
  }];
  let dependentDialects = ["::colrow::tp::TPDialect"];
}

def Optimize : Pass<"tp-optimize", "mlir::ModuleOp"> {
  let summary = "append gradient norm, clipping and AdamW";
  let description = [{
    To the trained function, if there is one. Squares are summed per state: partial
    ones meet in one all-reduce, replicated ones count once. Decay applies to parameters whose rank in the
    checkpoint is at least 2.

    Input: `tp.output "gradient" gradient @w, %dw : tensor<8x4xf32>`.
    Output, in the update:
    ```mlir
    tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
    tp.state @w.exp_avg_sq of @w "exp_avg_sq" : tensor<8x4xf32>
    tp.state @w.exp_avg of @w "exp_avg" : tensor<8x4xf32>
    // In the function, where %w and %dw are the parameter and its gradient:
    %squares = tp.sum_squares %dw : (tensor<8x4xf32>) -> tensor<3xf32>
    %norm, %scale = tp.clip %squares {max_norm = 1.0 : f64} : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
    tp.output "grad_norm", %norm : tensor<f32>
    %m = tp.param @w.exp_avg : tensor<8x4xf32>
    %v = tp.param @w.exp_avg_sq : tensor<8x4xf32>
    %new_w, %new_m, %new_v = tp.adamw %w, %dw, %m, %v, %scale
      {beta1 = 0.9 : f64, beta2 = 0.999 : f64, decay = 0.01 : f64, eps = 1.0e-8 : f64}
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>)
      -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
    tp.update @w, %new_w : tensor<8x4xf32>
    tp.update @w.exp_avg, %new_m : tensor<8x4xf32>
    tp.update @w.exp_avg_sq, %new_v : tensor<8x4xf32>
    ```
  }];
  let options = [
    Option<"beta1", "beta1", "double", "0.9", "Decay of the first moment">,
    Option<"beta2", "beta2", "double", "0.999", "Decay of the second moment">,
    Option<"eps", "eps", "double", "1e-8", "Added to the denominator">,
    Option<"weightDecay", "weight-decay", "double", "0.01",
           "Decoupled decay of parameters of rank 2 and more">,
    Option<"clipGradNorm", "clip-grad-norm", "double", "0",
           "Largest gradient norm; 0: no clipping">,
    Option<"keepGradients", "keep-gradients", "bool", "false",
           "Keep the gradients' tp.output">
  ];
  let dependentDialects = ["::colrow::tp::TPDialect"];
}

def Partition : Pass<"tp-partition", "mlir::ModuleOp"> {
  let summary = "whole shapes become local shapes: one program for all ranks";
  let description = [{
    f and `tp.stop_gradient` disappear, g becomes `tp.all_reduce`, unslice and
    gather become `tp.all_gather`. Follows what padding holds and inserts `tp.mask_padding`
    where an op sums over a padded dimension that is not known to be neutral.

    Input:
    ```mlir
    #mesh = #tp.mesh<"tp"=2>
    #r = #tp.layout<#mesh, [_, _]>
    #p = #tp.layout<#mesh, [_, _] partial "tp">
    %r = tp.g %p over ["tp"] : tensor<2x8xf32, #p> -> tensor<2x8xf32, #r>
    ```
    Output:
    ```mlir
    %r = tp.all_reduce %p over ["tp"] : tensor<2x8xf32> -> tensor<2x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"masks", "masks-inserted", "tp.mask_padding inserted">
  ];
  let dependentDialects = ["::colrow::tp::TPDialect"];
}

def Count : Pass<"tp-count", "mlir::ModuleOp"> {
  let summary = "add up what a partitioned step does, against what was predicted";
  let description = [{
    Adds up the work items of each function of a partitioned module, fused or not,
    for one rank, into its `tp.counted`: flops, bytes sent and saved, collectives,
    picoseconds on the module's topology, and how often each item is done. If
    `tp-shard` left its prediction in `tp.predicted`, to which `tp-differentiate`,
    `tp-optimize` and `tp-partition` add what they make, the two must be equal as
    integers. An error names the first op that was not predicted, and means a fault
    of the compiler.
  }];
}

def Fuse : Pass<"tp-fuse", "mlir::ModuleOp"> {
  let summary = "group memory-bound ops into kernels";
  let description = [{
    Ops over the same rows and columns that pass values element by element go
    into one kernel, each phase by itself. Members of a group stand together and
    carry its number in `tp.kernel`. `tp.update`s stand last, behind all that reads
    the old values.

    Input: the same without `tp.kernel`.
    Output:
    ```mlir
    %z = tp.add %y, %b {tp.kernel = 0 : i64} : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    %g = tp.gelu %z {tp.kernel = 0 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"kernels", "kernels", "Kernels made">,
    Statistic<"fused", "ops-fused", "Ops in a kernel with others">
  ];
  let dependentDialects = ["::colrow::tp::TPDialect"];
}

def LowerToPlan : Pass<"lower-to-plan", "mlir::ModuleOp"> {
  let summary = "local ops become instructions over buffers";
  let description = [{
    A function becomes a program of the same phases, "train" if it has a backward
    and else of the function's name: kernels' groups become `plan.launch`, equal kernels and tables are declared once, matmuls and
    collectives become instructions, attention stays one op. A reshape shares its
    operand's buffer. New values of symbols are copied over the old ones at the
    end, when nothing reads those any more.

    Before: the output of `tp-fuse`. After: `plan.program`s on buffers that have
    no place yet.

    Input:
    ```mlir
    module attributes {tp.mesh = #tp.mesh<"tp"=2>} {
      tp.parameter @w : tensor<3x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
      func.func @evaluate(%x: tensor<2x4xf32>) {
        %w = tp.param @w : tensor<3x4xf32>
        %y = tp.matmul %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
        tp.output "y", %y : tensor<2x3xf32>
        return
      }
    }
    ```
    Output:
    ```mlir
    module attributes {tp.mesh = #tp.mesh<"tp"=2>} {
      tp.parameter @w : tensor<3x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
      plan.program "evaluate" phases ["forward"] {
        %w = plan.global @w : !plan.buffer<f32>
        %x = plan.input 32 "arg0" role "data" as tensor<2x4xf32> : !plan.buffer<f32>
        %y = plan.buffer 24 : !plan.buffer<f32>
        plan.gemm 2 x 3 x 4 %x : f32 by 4, %w : f32 by 4 transposed to %y : f32 by 3
          "tp.matmul"
        plan.output "y" role "y" %y : f32 as tensor<2x3xf32>
        plan.end
      }
    }
    ```
  }];
  let dependentDialects = ["::colrow::tp::TPDialect",
                           "::colrow::planir::PlanDialect"];
}

def PlanExpandAttention : Pass<"plan-expand-attention", "mlir::ModuleOp"> {
  let summary = "attention becomes GEMMs and kernels over tiles, for a CPU";
  let description = [{
    Loops over batch, groups and heads around tiles of query rows: scores by a
    GEMM, one kernel for mask, softmax and dropout, a GEMM with the values. A
    tile has at least 64 rows, and there are at most 8 of them; it holds only the
    keys that its rows see.

    Input:
    ```mlir
    plan.attention %q : f32, %k : f32, %v : f32 to %y : f32, %lse : f32
      sizes [2, 1, 1, 8, 8, 4] scale 5.000000e-01
    ```
    Output:
    ```mlir
    plan.kernel @softmax [f32 read 256, f32 write 256, f32 write 32]
    %scores = plan.buffer 256 : !plan.buffer<f32>
    plan.loop 2 {
      plan.loop 1 {
        plan.loop 1 {
          plan.gemm 8 x 8 x 4 %q[16 * l0 + 16 * l1 + 128 * l2] : f32 by 4, %k[16 * l1 + 128 * l2] : f32 by 4 transposed
            to %scores : f32 by 8 alpha 5.000000e-01
          plan.launch @softmax(%scores : f32 for 256, %scores : f32 for 256, %lse[4 * l0 + 4 * l1 + 32 * l2] : f32 for 32)
          plan.gemm 8 x 4 x 8 %scores : f32 by 8, %v[16 * l1 + 128 * l2] : f32 by 4
            to %y[16 * l0 + 16 * l1 + 128 * l2] : f32 by 4
        }
      }
    }
    ```
  }];
  let dependentDialects = ["::colrow::planir::PlanDialect"];
}

def PlanAssignStreams : Pass<"plan-assign-streams", "mlir::ModuleOp"> {
  let summary = "say on which stream each instruction runs: one, on a CPU";
  let description = [{
    On CPU ranks a collective uses the cores that do the arithmetic, so there is
    nothing to hide: all instructions run on stream 0, and records and waits go.

    Input:
    ```mlir
    plan.record 3 stream 1
    plan.fill %x : f32 bytes 64 with 0 stream 1
    ```
    Output:
    ```mlir
    plan.fill %x : f32 bytes 64 with 0
    ```
  }];
}

def PlanPlace : Pass<"plan-place", "mlir::ModuleOp"> {
  let summary = "give everything its place in memory";
  let description = [{
    First, memory that may be one becomes one, by two rules. A copy goes away if
    what makes its source can write to the target from the beginning: nothing
    else touches the target meanwhile, unless it reads, in the instruction that
    begins to write, what that instruction may overwrite in place (new weights
    over old ones). The target of an instruction that is better in place (an
    all-reduce) becomes its source if nothing reads the source later.

    Then parameters, state, constants and inputs lie one behind the other, and
    buffers in an arena: those that do not live at once share bytes. A buffer
    lives from its first access to the moment behind which, by streams and waits,
    everything runs after its last one.

    Input:
    ```mlir
    %x = plan.buffer 64 : !plan.buffer<f32>
    plan.fill %x : f32 bytes 64 with 0
    %y = plan.buffer 64 : !plan.buffer<f32>
    plan.all_reduce sum of 16 %x : f32 to %y : f32 over ["tp"] payload 64
    ```
    Output:
    ```mlir
    %x = plan.buffer 64 at 0 : !plan.buffer<f32>
    plan.fill %x : f32 bytes 64 with 0
    plan.all_reduce sum of 16 %x : f32 to %x : f32 over ["tp"] payload 64
    ```
  }];
  let statistics = [
    Statistic<"coalesced", "buffers-coalesced", "Buffers that became others">
  ];
}

def PlanVerify : Pass<"plan-verify", "mlir::ModuleOp"> {
  let summary = "check a placed plan as tp-run checks a file";
  let description = [{
    Translates the module to the tables of a plan file and runs the checker of
    the runtime on them: addresses, lives, streams, collectives, kernels, types,
    inputs and outputs (the comments of `runtime/Plan/plan.fbs` say what must
    hold). An error stands at the op that is to blame.

    Input: the output of `plan-place`. Output: the same.
  }];
}

def PlanCompileKernels : Pass<"plan-compile-kernels", "mlir::ModuleOp"> {
  let summary = "compile all kernels to one object";
  let description = [{
    For this machine's CPU. The kernels keep their arguments and lose their text.

    Input:
    ```mlir
    plan.kernel @one [f32 write 4] {
      "kernel rows [] cols 1 ints 0"
      "  arg0: f32 write offset 0 rows [] col 1"
      "  %0 = const 3f800000 (1.000000e+00) : f32 scalar"
      "  store arg0 offset 0 %0"
    }
    ```
    Output (with the code's bytes):
    ```mlir
    plan.kernel @one [f32 write 4]
    plan.object "znver4" "+avx2" = dense<127> : tensor<4xi8>
    ```
  }];
}

def PlanWrite : Pass<"plan-write", "mlir::ModuleOp"> {
  let summary = "write the plan file";
  let description = [{
    Only translates. The file appears whole or not at all.

    Input: the output of `plan-compile-kernels`. Output: the same.
  }];
  let options = [
    Option<"output", "output", "std::string", "", "The plan file">
  ];
}

def VerifyPhase : Pass<"tp-verify-phase", "mlir::ModuleOp"> {
  let summary = "check what holds at the end of a phase";
  let description = [{
    `graph`: only tp ops touch tensors, no layouts. `sharded`: every tensor has
    a layout. `step`: besides, no `tp.ways`, and results leave whole or in blocks.
    `local`: no layouts in types, no changes of layout, every op has a lowering.
    There each value's state is inferred from parameters, collectives and
    positions: a collective that is missing or one too many, a `layout` that is
    missing or wrong, a mask that nothing needs, an output or update that is
    missing or stands twice, or an update in a function that is forward only, is
    refused. What padding holds, and whether terms are
    the right ones, it does not tell. `fused`: of a step that was `local`, what
    `tp-fuse` could break: values are made before they are used, and the members
    of a kernel stand together.
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"graph\"",
           "graph, sharded, step, local or fused">
  ];
}

#endif // COLROW_PASSES_TD
