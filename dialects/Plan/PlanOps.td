// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the plan dialect: what stands in a module, memory of a program, and
// its instructions.

#ifndef COLROW_PLAN_OPS_TD
#define COLROW_PLAN_OPS_TD

include "PlanBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Plan_Op<string mnem, list<Trait> traits = []>
    : Op<Plan_Dialect, mnem, traits>;

/// Bytes from the start of a region; -1 until plan-place has run.
def Plan_Offset : DefaultValuedProp<I64Prop, "-1">;

//===----------------------------------------------------------------------===//
// Module level
//===----------------------------------------------------------------------===//

def Plan_ConstantOp : Plan_Op<"constant", [Symbol]> {
  let summary = "declare a table of region `constant`";
  let description = [{
    Made once per distinct content, by `lower-to-plan`.

    ```mlir
    plan.constant @cos at 0 = dense<[[1.0, 1.0], [0.5, 0.25]]> : tensor<2x2xf32>
    ```

    **Constraints**
    - C1: the value is a tensor of static shape whose elements a buffer can hold.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$value,
                       Plan_Offset:$offset);
  let assemblyFormat = "$sym_name (`at` $offset^)? `=` $value attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::ShapedType getTensorType() { return getValue().getShapedType(); }
  }];
}

def Plan_KernelOp : Plan_Op<"kernel", [Symbol]> {
  let summary = "declare a kernel: its arguments and its mathematics";
  let description = [{
    The text is a row kernel in canonical form, one string a line; equal
    kernels stand in a module once. `plan-compile-kernels` takes the text away
    and leaves the machine code of all kernels in one `plan.object`.

    ```mlir
    plan.kernel @relu [f32 read 1024, f32 write 1024 over [0]] {
      "kernel rows [16] cols 16 ints 0"
      "  arg0: f32 read offset 0 rows [16] col 1"
      "  arg1: f32 write offset 0 rows [16] col 1"
      "  %0 = load arg0 offset 0 : f32 full"
      "  %1 = const 00000000 (0.000000e+00) : f32 scalar"
      "  %2 = max %0 %1 : f32 full"
      "  store arg1 offset 0 %2"
    }
    ```

    **Constraints**
    - C1: an argument's elements are those of a buffer, its extent at least 1.
    - C2: the text is a row kernel, and the arguments are its arguments.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
      TypedArrayAttrBase<Plan_KernelArgAttr, "arguments of a kernel">:$args,
      DefaultValuedProp<I64Prop, "0">:$ints, OptionalAttr<StrAttr>:$text);
  let assemblyFormat = [{
    $sym_name custom<KernelArgs>($args) (`ints` $ints^)?
    (` ` `{` custom<Lines>($text)^ `}`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_ObjectOp : Plan_Op<"object"> {
  let summary = "machine code of all kernels of the module";
  let description = [{
    One ELF shared object without imports that defines every `plan.kernel`, for
    the CPU and features (both in LLVM's words) that it names.

    ```mlir
    plan.object "znver4" "+avx2,+fma" = dense<127> : tensor<4xi8>
    ```

    **Constraints**
    - C1: the code is a tensor of i8 with one dimension.
  }];
  let arguments = (ins StrAttr:$cpu, StrAttr:$features, ElementsAttr:$code);
  let assemblyFormat = "$cpu $features `=` $code attr-dict";
  let hasVerifier = 1;
}

def Plan_ProgramOp : Plan_Op<"program", [IsolatedFromAbove]> {
  let summary = "a program: instructions in phases";
  let description = [{
    One block a phase, in order, each ended by `plan.next` and the last one by
    `plan.end`. `ranks` lists the ranks that run it; without it all do. Several
    programs of one name with disjoint ranks together are one program.

    Once placed it carries the bytes of its regions, and for reports the bytes
    that the first phase keeps for later ones and those of gradients.

    ```mlir
    plan.program "train" phases ["forward", "backward"] {
      %x = plan.buffer 64 : !plan.buffer<f32>
      plan.fill %x : f32 bytes 64 with 0
      plan.next ^backward
    ^backward:
      plan.output "loss" role "loss" %x : f32 as tensor<f32>
      plan.end
    }
    ```

    **Constraints**
    - C1: there are as many blocks as phases, at least one, and none has arguments.
    - C2: each block but the last ends in `plan.next` to the block behind it, the
      last one in `plan.end`.
    - C3: ranks rise.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<DenseI64ArrayAttr>:$ranks,
                       StrArrayAttr:$phases,
                       DefaultValuedProp<I64Prop, "0">:$scratch_bytes,
                       DefaultValuedProp<I64Prop, "0">:$input_bytes,
                       DefaultValuedProp<I64Prop, "0">:$saved_bytes,
                       DefaultValuedProp<I64Prop, "0">:$gradient_bytes);
  let regions = (region MinSizedRegion<1>:$body);
  let assemblyFormat = [{
    $name (`ranks` $ranks^)? `phases` $phases
    (`scratch` $scratch_bytes^)? (`input` $input_bytes^)?
    (`saves` $saved_bytes^)? (`gradients` $gradient_bytes^)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory of a program
//===----------------------------------------------------------------------===//

/// Memory is printed under its name, where it has one.
def Named : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;

def Plan_BufferOp : Plan_Op<"buffer", [MemoryEffects<[MemAlloc]>, Named]> {
  let summary = "memory of region `scratch`";
  let description = [{
    Undefined when the program starts. Two buffers may share bytes if all
    accesses of one happen before all of the other.

    ```mlir
    %x = plan.buffer 4096 "h.0.attn.q" at 128 : !plan.buffer<f32>
    ```

    **Constraints**
    - C1: at least 1 byte, whole elements.
  }];
  let arguments = (ins I64Prop:$bytes, OptionalAttr<StrAttr>:$name,
                       Plan_Offset:$offset);
  let results = (outs Plan_BufferType:$result);
  let assemblyFormat =
      "$bytes ($name^)? (`at` $offset^)? attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Plan_InputOp : Plan_Op<"input", [Named]> {
  let summary = "memory of region `input`, set by the host before the program";
  let description = [{
    Read only. `as` is the whole tensor, with its layout; the buffer holds one
    rank's block. `batch` is the dimension that counts rows of the batch.
    Integers lie in `range`, or equal `pads`: what rows beyond the data hold,
    finite and counting for nothing. Without `range` any value may come.

    ```mlir
    %ids = plan.input 128 "input_ids" role "ids" as tensor<2x16xi32>
      batch 0 range 0 to 64 pads 0 at 0 : !plan.buffer<i32>
    ```

    **Constraints**
    - C1: at least 1 byte, whole elements, which are those of the whole tensor.
  }];
  let arguments = (ins I64Prop:$bytes, StrAttr:$name, StrAttr:$role,
                       TypeAttr:$whole,
                       DefaultValuedProp<I64Prop, "-1">:$batch_dim,
                       DefaultValuedProp<I64Prop, "0">:$low,
                       DefaultValuedProp<I64Prop, "0">:$high,
                       DefaultValuedProp<I64Prop, "0">:$padding,
                       Plan_Offset:$offset);
  let results = (outs Plan_BufferType:$result);
  let assemblyFormat = [{
    $bytes $name `role` $role `as` $whole (`batch` $batch_dim^)?
    `` custom<Range>($low, $high) (`pads` $padding^)? (`at` $offset^)?
    attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Plan_GlobalOp : Plan_Op<"global",
    [Pure, Named, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "memory of a parameter, state or constant";
  let description = [{
    ```mlir
    tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
    %w = plan.global @w : !plan.buffer<f32>
    ```

    **Constraints**
    - C1: the symbol is a `plan.constant`, or declares a tensor `type`
      (`tp.parameter`, `tp.state`), of the buffer's elements.
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol);
  let results = (outs Plan_BufferType:$result);
  let assemblyFormat = "$symbol attr-dict `:` qualified(type($result))";
}

def Plan_ScalarsOp : Plan_Op<"scalars", [Pure, Named]> {
  let summary = "the block of numbers that the host sets before a program";
  let description = [{
    Learning rate, seed, step and the rank's coordinates: struct `ScalarBlock`
    of `colrow/runtime/Plan/PlanLimits.h`.

    ```mlir
    %s = plan.scalars : !plan.buffer<i8>
    ```

    **Constraints**
    - C1: elements are i8.
  }];
  let results = (outs Plan_BufferType:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Plan_OutputOp : Plan_Op<"output",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "let memory leave the program under a name, when it has ended";
  let description = [{
    Roles: `loss`, `grad_norm`, `token_count`, `logits`, `gradient` (of
    `parameter`, written through its sources), or any other. `as` is the whole
    tensor with its layout. What it names is alive to the end.

    ```mlir
    tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
    plan.output "loss" role "loss" %l : f32 as tensor<f32>
    plan.output "w" role "gradient" parameter @w %dw[64] : f32 as tensor<8x4xf32>
    ```

    **Constraints**
    - C1: one address, without strides, and the whole tensor's elements are the
      buffer's.
    - C2: the parameter is declared in the module.
  }];
  let arguments = (ins StrAttr:$name, DefaultValuedStrAttr<StrAttr, "">:$role,
                       OptionalAttr<FlatSymbolRefAttr>:$parameter,
                       Plan_BufferType:$source, Plan_Addresses:$addresses,
                       TypeAttr:$whole);
  let assemblyFormat = [{
    $name (`role` $role^)? (`parameter` $parameter^)?
    custom<At>("0", $source, type($source), $addresses) `as` $whole attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Plan_NextOp : Plan_Op<"next", [Terminator]> {
  let summary = "end a phase";
  let description = [{ The block behind it is the next phase. }];
  let successors = (successor AnySuccessor:$phase);
  let assemblyFormat = "$phase attr-dict";
}

def Plan_EndOp : Plan_Op<"end", [Terminator]> {
  let summary = "end a program";
  let description = [{ All that was issued before has happened. }];
  let assemblyFormat = "attr-dict";
}

def Plan_LoopOp : Plan_Op<"loop", [NoTerminator, SingleBlock]> {
  let summary = "repeat instructions a constant number of times";
  let description = [{
    Addresses in the body name the loops around them from the inside: `l0` is
    the index of the innermost one.

    ```mlir
    plan.loop 4 {
      plan.fill %x[16 * l0] : f32 bytes 8 with 0
    }
    ```

    **Constraints**
    - C1: at least one trip and one instruction.
  }];
  let arguments = (ins I64Prop:$trips, OptionalAttr<StrAttr>:$name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$trips $body ($name^)? attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// An instruction. Its buffers are its operands; `addresses` has one entry
/// each. `overrides` names further methods of the interface that it defines.
class Plan_InstructionOp<string mnem, dag own, list<Trait> traits = [],
                         list<string> overrides = []>
    : Plan_Op<mnem, traits # [DeclareOpInterfaceMethods<
          PlanInstructionOpInterface, overrides>]> {
  let arguments = !con(own, (ins Plan_Addresses:$addresses,
                                 DefaultValuedProp<I64Prop, "0">:$stream,
                                 OptionalAttr<StrAttr>:$name));
}

def Plan_GemmOp : Plan_InstructionOp<"gemm",
    (ins I64Prop:$m, I64Prop:$n, I64Prop:$k, Plan_BufferType:$a,
         Plan_BufferType:$b, Plan_BufferType:$c, I64Prop:$lda, I64Prop:$ldb,
         I64Prop:$ldc, UnitProp:$trans_a, UnitProp:$trans_b,
         DefaultValuedAttr<F32Attr, "1.0f">:$alpha,
         DefaultValuedAttr<F32Attr, "0.0f">:$beta)> {
  let summary = "C = alpha op(A) op(B) + beta C, row-major, float32 sums";
  let description = [{
    `m x n x k`: op(A) is m x k, op(B) k x n. `by` is the distance of rows in
    elements. With beta 0 C is written whatever it held.

    ```mlir
    plan.gemm 8 x 12 x 16 %x : f32 by 16, %w[64] : f32 by 16 transposed
      to %y : f32 by 12 alpha 1.250000e-01 "h.0.mlp tp.matmul"
    ```
  }];
  let assemblyFormat = [{
    $m `x` $n `x` $k
    custom<At>("0", $a, type($a), $addresses) `by` $lda (`transposed` $trans_a^)? `,`
    custom<At>("1", $b, type($b), ref($addresses)) `by` $ldb (`transposed` $trans_b^)? `to`
    custom<At>("2", $c, type($c), ref($addresses)) `by` $ldc
    (`alpha` $alpha^)? (`beta` $beta^)? (`stream` $stream^)? ($name^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "const ::colrow::planir::GemmShape &":$shape,
                                 "::colrow::planir::Place":$a,
                                 "::colrow::planir::Place":$b,
                                 "::colrow::planir::Place":$c,
                                 "::mlir::StringAttr":$name)>];
}

def Plan_LaunchOp : Plan_InstructionOp<"launch",
    (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_BufferType>:$args,
         DenseI64ArrayAttr:$bytes, Plan_Addresses:$ints),
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>], ["mayBeInPlace"]> {
  let summary = "call a kernel";
  let description = [{
    `for` gives the bytes, upward from the address, that the kernel may touch in
    one call. Integers are numbers with terms as in addresses.

    ```mlir
    plan.kernel @k [f32 read 1024, f32 write 1024] ints 1
    plan.loop 2 {
      plan.launch @k(%x : f32 for 1024, %y[1024 * l0] : f32 for 1024)
        ints [[3 + 1 * l0]] "h.0.mlp tp.relu"
    }
    ```

    **Constraints**
    - C1: the symbol is a `plan.kernel`.
    - C2: as many bytes as arguments.
  }];
  let assemblyFormat = [{
    $kernel `` custom<LaunchArgs>($args, type($args), $addresses, $bytes)
    `` custom<Ints>($ints) (`stream` $stream^)? ($name^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$kernel,
                                 "::llvm::ArrayRef<::colrow::planir::Place>":$args,
                                 "::llvm::ArrayRef<int64_t>":$bytes,
                                 "::llvm::ArrayRef<::colrow::planir::Affine>":$ints,
                                 "::mlir::StringAttr":$name)>];
  let hasVerifier = 1;
}

def Plan_CopyOp : Plan_InstructionOp<"copy",
    (ins Plan_BufferType:$source, Plan_BufferType:$target, I64Prop:$bytes)> {
  let summary = "copy bytes between places that do not overlap";
  let description = [{
    ```mlir
    plan.copy %new_w : f32 to %w : f32 bytes 4096 "w tp.update"
    ```
  }];
  let assemblyFormat = [{
    custom<At>("0", $source, type($source), $addresses) `to`
    custom<At>("1", $target, type($target), ref($addresses)) `bytes` $bytes
    (`stream` $stream^)? ($name^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::colrow::planir::Place":$source,
                                 "::colrow::planir::Place":$target,
                                 "int64_t":$bytes, "::mlir::StringAttr":$name)>];
}

def Plan_FillOp : Plan_InstructionOp<"fill",
    (ins Plan_BufferType:$target, I64Prop:$bytes, I64Prop:$value)> {
  let summary = "set bytes to one value";
  let description = [{
    ```mlir
    plan.fill %dw : f32 bytes 4096 with 0
    ```

    **Constraints**
    - C1: the value is a byte.
  }];
  let assemblyFormat = [{
    custom<At>("0", $target, type($target), $addresses) `bytes` $bytes `with` $value
    (`stream` $stream^)? ($name^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::colrow::planir::Place":$target,
                                 "int64_t":$bytes, "::mlir::StringAttr":$name)>];
  let hasVerifier = 1;
}

def Plan_RecordOp : Plan_InstructionOp<"record", (ins I64Prop:$event)> {
  let summary = "mark a place in a stream";
  let description = [{
    ```mlir
    plan.record 3 stream 1
    ```
  }];
  let assemblyFormat = "$event (`stream` $stream^)? ($name^)? attr-dict";
}

def Plan_WaitOp : Plan_InstructionOp<"wait", (ins I64Prop:$event)> {
  let summary = "let a stream wait for what stands before an event's record";
  let description = [{
    ```mlir
    plan.wait 3
    ```
  }];
  let assemblyFormat = "$event (`stream` $stream^)? ($name^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

class Plan_CollectiveOp<string mnem, dag own, list<string> overrides = []>
    : Plan_InstructionOp<mnem, !con(
          own, (ins Plan_BufferType:$source, Plan_BufferType:$target,
                    StrArrayAttr:$axes, I64Prop:$payload,
                    OptionalAttr<StrAttr>:$reason)),
      [DeclareOpInterfaceMethods<PlanCollectiveOpInterface>], overrides>;

def Plan_AllReduceOp : Plan_CollectiveOp<"all_reduce",
    (ins Plan_ReductionAttr:$reduction, I64Prop:$count),
    ["mayBeInPlace", "getPreferredInPlace"]> {
  let summary = "sum or maximum over the ranks of the axes";
  let description = [{
    Before: rank r holds x_r. After: every rank holds the sum (or maximum) over
    r, the same bits everywhere. Source and target may be one place.

    ```mlir
    plan.all_reduce sum of 256 %x : f32 to %y : f32 over ["tp"] payload 1024
      reason "tp.add wants R" "h.0.mlp tp.all_reduce"
    ```
  }];
  let assemblyFormat = [{
    custom<Reduction>($reduction) `of` $count custom<At>("0", $source, type($source), $addresses) `to`
    custom<At>("1", $target, type($target), ref($addresses)) `over` $axes
    `payload` $payload (`reason` $reason^)? (`stream` $stream^)? ($name^)? attr-dict
  }];
}

/// A collective over rows of blocks: what one rank holds is [outer, block],
/// the whole [outer, total].
class Plan_BlockCollectiveOp<string mnem>
    : Plan_CollectiveOp<mnem, (ins I64Prop:$outer, I64Prop:$block, I64Prop:$total)> {
  let assemblyFormat = [{
    $outer `x` $block `of` $total
    custom<At>("0", $source, type($source), $addresses) `to`
    custom<At>("1", $target, type($target), ref($addresses)) `over` $axes
    `payload` $payload (`reason` $reason^)? (`stream` $stream^)? ($name^)? attr-dict
  }];
}

def Plan_AllGatherOp : Plan_BlockCollectiveOp<"all_gather"> {
  let summary = "join the ranks' blocks; padding is dropped";
  let description = [{
    Before: rank r holds [outer, block]. After: every rank holds [outer, total],
    the columns of rank r from r * block on, cut at total.

    ```mlir
    plan.all_gather 8 x 3 of 5 %x : f32 to %y : f32 over ["tp"] payload 160
    ```
  }];
}

def Plan_ReduceScatterOp : Plan_BlockCollectiveOp<"reduce_scatter"> {
  let summary = "sum over the ranks, each keeping its block";
  let description = [{
    Before: rank r holds a summand [outer, total]. After: rank r holds block r
    of the sum, [outer, block], zero beyond total.

    ```mlir
    plan.reduce_scatter 8 x 3 of 5 %x : f32 to %y : f32 over ["tp"] payload 160
    ```
  }];
}

def Plan_AllToAllOp : Plan_BlockCollectiveOp<"all_to_all"> {
  let summary = "exchange blocks between all ranks";
  let description = [{
    Before: rank r holds [ranks, outer, block]. After: part q of rank r is what
    was part r of rank q. `of` is ranks * block.

    ```mlir
    plan.all_to_all 8 x 3 of 6 %x : f32 to %y : f32 over ["tp"] payload 192
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

class Plan_AttentionOpBase<string mnem, dag operands>
    : Plan_InstructionOp<mnem, !con(operands,
        (ins DenseI64ArrayAttr:$sizes, F32Attr:$scale, UnitProp:$causal,
             DefaultValuedProp<I64Prop, "0">:$window,
             DefaultValuedAttr<F64Attr, "0.0">:$dropout,
             DefaultValuedProp<I64Prop, "0">:$id,
             OptionalAttr<DenseI64ArrayAttr>:$whole, Plan_Addresses:$starts))> {
  // Shared by both: see plan.attention.
  let extraClassDeclaration = [{
    int64_t getBatch() { return getSizes()[0]; }
    int64_t getGroups() { return getSizes()[1]; }
    int64_t getHeads() { return getSizes()[2]; }
    int64_t getQueries() { return getSizes()[3]; }
    int64_t getKeys() { return getSizes()[4]; }
    int64_t getHeadSize() { return getSizes()[5]; }
  }];
  let hasVerifier = 1;
}

def Plan_AttentionOp : Plan_AttentionOpBase<"attention",
    (ins Plan_BufferType:$q, Plan_BufferType:$k, Plan_BufferType:$v,
         Plan_BufferType:$y, Plan_BufferType:$lse)> {
  let summary = "softmax(scale q k^T) v for groups of heads, as one instruction";
  let description = [{
    `sizes` are batch b, groups m, heads a group g, queries s, keys t, size of a
    head d. q and y are [b, s, m, g, d], k and v [b, t, m, d]; lse, the logarithm
    of each row's sum of exponentials, is [b, s, m, g]. `causal`: query i sees
    keys up to i. `window` w > 0: it sees only the last w of those. `dropout`
    zeroes probabilities with that probability and scales the others; element
    (b, m, g, s, t) is keyed by `id` and its index in the tensor `whole`, in
    which this rank's block begins at `starts`.

    Lives until `plan-expand-attention`; a target with a library call keeps it.

    ```mlir
    plan.attention %q : f32, %k : f32, %v : f32 to %y : f32, %lse : f32
      sizes [2, 1, 3, 8, 8, 4] scale 5.000000e-01 causal
      dropout 1.000000e-01 id 3 whole [2, 2, 3, 8, 8] starts [[0], [1 * c0], [0], [0], [0]]
    ```

    **Constraints** (both attention ops)
    - C1: six sizes, each at least 1; a window is not negative and causal.
    - C2: dropout lies in [0, 1), and with it there are five whole sizes and starts.
    - C3: lse holds f32, the other buffers all f32 or all bf16.
  }];
  let assemblyFormat = [{
    custom<At>("0", $q, type($q), $addresses) `,`
    custom<At>("1", $k, type($k), ref($addresses)) `,`
    custom<At>("2", $v, type($v), ref($addresses)) `to`
    custom<At>("3", $y, type($y), ref($addresses)) `,`
    custom<At>("4", $lse, type($lse), ref($addresses))
    `sizes` $sizes `scale` $scale (`causal` $causal^)? (`window` $window^)?
    (`dropout` $dropout^)? (`id` $id^)? (`whole` $whole^)?
    `` custom<Starts>($starts) (`stream` $stream^)? ($name^)? attr-dict
  }];
}

def Plan_AttentionGradOp : Plan_AttentionOpBase<"attention_grad",
    (ins Plan_BufferType:$q, Plan_BufferType:$k, Plan_BufferType:$v,
         Plan_BufferType:$lse, Plan_BufferType:$dy, Plan_BufferType:$dq,
         Plan_BufferType:$dk, Plan_BufferType:$dv)> {
  let summary = "gradients of plan.attention in q, k and v";
  let description = [{
    Shapes are those of what they are gradients of. The probabilities come again
    from q, k and lse.

    ```mlir
    plan.attention_grad %q : f32, %k : f32, %v : f32, %lse : f32, %dy : f32
      to %dq : f32, %dk : f32, %dv : f32 sizes [2, 1, 3, 8, 8, 4] scale 5.000000e-01
    ```
  }];
  let assemblyFormat = [{
    custom<At>("0", $q, type($q), $addresses) `,`
    custom<At>("1", $k, type($k), ref($addresses)) `,`
    custom<At>("2", $v, type($v), ref($addresses)) `,`
    custom<At>("3", $lse, type($lse), ref($addresses)) `,`
    custom<At>("4", $dy, type($dy), ref($addresses)) `to`
    custom<At>("5", $dq, type($dq), ref($addresses)) `,`
    custom<At>("6", $dk, type($dk), ref($addresses)) `,`
    custom<At>("7", $dv, type($dv), ref($addresses))
    `sizes` $sizes `scale` $scale (`causal` $causal^)? (`window` $window^)?
    (`dropout` $dropout^)? (`id` $id^)? (`whole` $whole^)?
    `` custom<Starts>($starts) (`stream` $stream^)? ($name^)? attr-dict
  }];
}

#endif // COLROW_PLAN_OPS_TD
