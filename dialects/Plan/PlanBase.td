// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan dialect: its type, properties, enums and the interface of
// instructions.

#ifndef COLROW_PLAN_BASE_TD
#define COLROW_PLAN_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/Properties.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::colrow::planir";
  let summary = "Programs of instructions over buffers: what a device runs";
  let description = [{
    Between local tensors and the plan file. A buffer names memory, not
    contents; an instruction reads and writes memory at addresses in buffers;
    order alone says what happens first. One op is one instruction of the file.

    Parameters and optimizer state stay the symbols that they were; once placed
    they carry `plan.offset`, bytes from the start of region `persistent`.

    ```mlir
    tp.parameter @w : tensor<12x16xf32>
      {id = 0 : i64, init = #tp.init<zeros>, plan.offset = 0 : i64}
    plan.program "evaluate" phases ["forward"] {
      %x = plan.input 512 "x" role "data" as tensor<8x16xf32> batch 0 : !plan.buffer<f32>
      %w = plan.global @w : !plan.buffer<f32>
      %y = plan.buffer 384 : !plan.buffer<f32>
      plan.gemm 8 x 12 x 16 %x : f32 by 16, %w : f32 by 16 transposed to %y : f32 by 12
      plan.output "y" %y : f32 as tensor<8x12xf32>
      plan.end
    }
    ```
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "named memory of one element type";
  let description = [{
    `!plan.buffer<f32>`. Elements are f32, bf16, i32, i64, i1 (a byte, 0 or 1),
    or i8: bytes without a type, which any instruction may touch.
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def Plan_Access : I32EnumAttr<"Access", "what an instruction does to memory", [
    I32EnumAttrCase<"read", 0>, I32EnumAttrCase<"write", 1>,
    I32EnumAttrCase<"accumulate", 2>]> {
  let cppNamespace = "::colrow::planir";
  let genSpecializedAttr = 0;
}

def Plan_Reduction : I32EnumAttr<"Reduction", "how summands meet", [
    I32EnumAttrCase<"sum", 1>, I32EnumAttrCase<"max", 2>]> {
  let cppNamespace = "::colrow::planir";
  let genSpecializedAttr = 0;
}
def Plan_ReductionAttr : EnumAttr<Plan_Dialect, Plan_Reduction, "reduction">;

//===----------------------------------------------------------------------===//
// Attributes and properties
//===----------------------------------------------------------------------===//

def Plan_KernelArgAttr : AttrDef<Plan_Dialect, "KernelArg"> {
  let mnemonic = "arg";
  let summary = "one pointer argument of a kernel";
  let description = [{
    `f32 write 4096 over [0]`: elements, access, and the bytes from its address
    that every launch touches (gathers and scatters may go further). `over`
    lists arguments that are read element by element where this one is written,
    so that both may be one place in memory.
  }];
  let parameters = (ins "::mlir::Type":$elementType,
                        EnumParameter<Plan_Access>:$access, "int64_t":$extent,
                        OptionalArrayRefParameter<"int64_t">:$over);
  let hasCustomAssemblyFormat = 1;
}

/// One address a buffer operand, in their order.
def Plan_Addresses
    : Property<"::colrow::planir::AffineList", "addresses of the operands",
               "::llvm::ArrayRef<::colrow::planir::Affine>"> {
  let convertFromStorage = "::llvm::ArrayRef<::colrow::planir::Affine>($_storage)";
  let assignToStorage = "$_storage.assign($_value.begin(), $_value.end())";
  let hashProperty = "::colrow::planir::hash_value($_storage)";
  let writeToMlirBytecode = writeMlirBytecodeWithConvertToAttribute # ";";
  let readFromMlirBytecode = readMlirBytecodeUsingConvertFromAttribute;
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

def PlanInstructionOpInterface : OpInterface<"PlanInstructionOpInterface"> {
  let cppNamespace = "::colrow::planir";
  let description = [{
    One instruction: its buffers are its operands, each with an address, and it
    says what it does at each. Passes know instructions by this alone.
  }];
  let methods = [
    InterfaceMethod<"Address of each buffer operand.",
      "::llvm::MutableArrayRef<::colrow::planir::Affine>", "getAddressStorage",
      (ins), [{}], [{ return $_op.getProperties().addresses; }]>,
    InterfaceMethod<"The stream that it runs on.", "int64_t", "getStream">,
    InterfaceMethod<"Sets the stream.", "void", "setStream",
      (ins "int64_t":$stream)>,
    InterfaceMethod<"What it is called in traces and errors; may be null.",
      "::mlir::StringAttr", "getNameAttr">,
    InterfaceMethod<"What it touches, at most one entry an operand: bytes from "
                    "the address, in each iteration of the loops around it. `symbols` "
                    "are the module's.",
      "void", "getAccesses",
      (ins "::mlir::SymbolTable &":$symbols,
           "::llvm::SmallVectorImpl<::colrow::planir::BufferAccess> &":$accesses)>,
    InterfaceMethod<"Whether operand `written` may lie exactly where operand "
                    "`read` lies.",
      "bool", "mayBeInPlace",
      (ins "unsigned":$read, "unsigned":$written,
           "::mlir::SymbolTable &":$symbols), [{}], [{ return false; }]>,
    InterfaceMethod<"The operands (read, written) that are one place wherever "
                    "that is possible: the instruction is better for it.",
      "std::optional<std::pair<unsigned, unsigned>>", "getPreferredInPlace",
      (ins), [{}], [{ return std::nullopt; }]>
  ];
  let verify = [{ return ::colrow::planir::detail::verifyInstruction($_op); }];
}

def PlanCollectiveOpInterface : OpInterface<"PlanCollectiveOpInterface"> {
  let cppNamespace = "::colrow::planir";
  let description = [{
    An instruction that all ranks of a communicator run together. A communicator
    is a list of mesh axes, major to minor.
  }];
  let methods = [
    InterfaceMethod<"Names of the axes.", "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"The op that made it necessary; may be null.",
      "::mlir::StringAttr", "getReasonAttr">,
    InterfaceMethod<"Bytes of the whole logical tensor that it moves.",
      "int64_t", "getPayload">
  ];
}

#endif // COLROW_PLAN_BASE_TD
