// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Constraints of the attributes, by their numbers.

// Mesh C1
// expected-error@+1 {{mesh axis 0 has no name}}
#mesh = #tp.mesh<""=2>

// -----

// Mesh C1
// expected-error@+1 {{mesh axis "tp" appears twice}}
#mesh = #tp.mesh<"tp"=2, "tp"=3>

// -----

// Mesh C2
// expected-error@+1 {{mesh axis "tp" has size 0; it must be from 1 to 65536}}
#mesh = #tp.mesh<"tp"=0>

// -----

// Mesh C2
// expected-error@+1 {{a mesh of 9 axes; there may be at most 8}}
#mesh = #tp.mesh<"a"=2, "b"=2, "c"=2, "d"=2, "e"=2, "f"=2, "g"=2, "h"=2, "i"=2>

// -----

// tp.mesh
// expected-error@+1 {{'builtin.module' op "tp.mesh" is a #tp.mesh on a module}}
module attributes {tp.mesh = "tp=2"} {
}

// -----

// tp.role
// expected-error@+1 {{'func.func' op result 1 has the attribute "tp.role" = 1 : i64; of the tp dialect only tp.role, a string, may stand there}}
func.func private @role() -> (tensor<6xf32>, tensor<6xf32> {tp.role = 1})

// -----

// Layout C1
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{layout has 1 dimensions, the tensor 2}}
func.func @entries(%x: tensor<6x10xf32, #tp.layout<#mesh, [{6 over "tp"}]>>)

// -----

// Layout C2
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{dimension 1: the factors' product is 12, but the dimension is 10}}
func.func @product(%x: tensor<6x10xf32, #tp.layout<#mesh, [_, {12 over "tp"}]>>)

// -----

// Layout C2
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{dimension 0: factor 6 pad 4 is not a size and a padded size that is not smaller}}
func.func @padding_below_the_size(%x: tensor<6xf32, #tp.layout<#mesh, [{6 pad 4 over "tp"}]>>)

// -----

// Layout C2
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{dimension 0: its factors make more than 2^46}}
#layout = #tp.layout<#mesh, [{4611686018427387904, 4611686018427387904 over "tp"}]>

// -----

// Layout C3
#mesh = #tp.mesh<"tp"=4>
// expected-error@+1 {{dimension 1: 10 does not divide over 4 ranks; pad it to 12}}
func.func @blocks(%x: tensor<6x10xf32, #tp.layout<#mesh, [_, {10 over "tp"}]>>)

// -----

// Layout C3, over two axes
#mesh = #tp.mesh<"dp"=2 batch, "tp"=4>
// expected-error@+1 {{dimension 0: 12 does not divide over 8 ranks; pad it to 16}}
func.func @blocks_of_two_axes(%x: tensor<12xf32, #tp.layout<#mesh, [{12 over ("dp", "tp")}]>>)

// -----

// Layout C4
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{dimension 0: factor 3 is padded to 4 but not split; only a split factor is padded}}
func.func @padding_not_split(%x: tensor<24xf32, #tp.layout<#mesh, [{3 pad 4, 8 over "tp"}]>>)

// -----

// Layout C5
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{axis 'tp' is used twice in one layout}}
func.func @axis_twice(%x: tensor<6x10xf32, #tp.layout<#mesh, [_, {10 over "tp"}] copied "tp">>)

// -----

// Layout C5
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{the mesh has no axis "dp"}}
#layout = #tp.layout<#mesh, [_, _] partial "dp">

// -----

#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{expected copied, partial or partial_max}}
#layout = #tp.layout<#mesh, [_, _] shared "tp">

// -----

// expected-error@+1 {{expected zeros, ones, constant or normal}}
#init = #tp.init<uniform 0.0, 1.0>

// -----

// Init C2
// expected-error@+1 {{initial values of mean 0.000000e+00 and deviation -1.000000e+00; both must be finite in float32, and the deviation at least 0}}
#init = #tp.init<normal 0.0, -1.0>

// -----

// Init C2: not finite in float32.
// expected-error@+1 {{initial values of mean 1.000000e+39 and deviation 0.000000e+00; both must be finite in float32, and the deviation at least 0}}
#init = #tp.init<constant 1.0e39>

// -----

// Source C1
// expected-error@+1 {{source "w": a tensor of 24 elements cannot be reshaped to 25}}
#source = #tp.source<"w" : [4, 6] as [5, 5] from [0, 0] step [1, 1] size [5, 5] perm [0, 1]>

// -----

// Source C2
// expected-error@+1 {{source "w": from, step, size and perm need 2 entries}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0] step [1, 1] size [4, 6] perm [0, 1]>

// -----

// Source C3
// expected-error@+1 {{source "w": slice 1 leaves its dimension of 6}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, 1] step [1, 2] size [4, 4] perm [0, 1]>

// -----

// Source C3
// expected-error@+1 {{source "w": slice 0 leaves its dimension of 4}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, 0] step [0, 1] size [4, 6] perm [0, 1]>

// -----

// Source C4
// expected-error@+1 {{source "w": perm is not a permutation}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, 0] step [1, 1] size [4, 6] perm [1, 1]>

// -----

// Source C3: a slice so long that its end cannot be computed.
// expected-error@+1 {{source "w": slice 0 leaves its dimension of 4}}
#source = #tp.source<"w" : [4] as [4] from [0] step [4611686018427387904] size [4611686018427387904] perm [0]>

// -----

// Source C5
// expected-error@+1 {{source "w": its sizes are not positive, or make more than 2^46 elements}}
#source = #tp.source<"w" : [4, -1] as [4, -1] from [0, 0] step [1, 1] size [4, 1] perm [0, 1]>

// -----

// Source C5: sizes whose product wraps around to 0 on both sides.
// expected-error@+1 {{source "w": its sizes are not positive, or make more than 2^46 elements}}
#source = #tp.source<"w" : [4294967296, 4294967296] as [8589934592, 2147483648] from [0, 0] step [1, 1] size [4, 1] perm [0, 1]>

// -----

// Source C5
// expected-error@+1 {{a source has no name}}
#source = #tp.source<"" : [4] as [4] from [0] step [1] size [4] perm [0]>

// -----

// Mesh C2: 65536 is the largest size.
#mesh = #tp.mesh<"tp"=65536>
func.func private @largest(%x: tensor<65536xf32, #tp.layout<#mesh, [{65536 over "tp"}]>>)

// -----

// Mesh C2
// expected-error@+1 {{mesh axis "tp" has size 65537; it must be from 1 to 65536}}
#mesh = #tp.mesh<"tp"=65537>

// -----

// Layout C2
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{dimension 0: factor 0 pad 2 is not a size and a padded size that is not smaller}}
#layout = #tp.layout<#mesh, [{0 pad 2 over "tp"}]>

// -----

// Layout C4: what is not split is written _.
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{dimension 1: its factors split nothing; write _}}
func.func @nothing_split(%x: tensor<6x10xf32, #tp.layout<#mesh, [{6 over "tp"}, {2, 5}]>>)

// -----

// Source C2: each of the four lists.
// expected-error@+1 {{source "w": from, step, size and perm need 2 entries}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, 0] step [1] size [4, 6] perm [0, 1]>

// -----

// expected-error@+1 {{source "w": from, step, size and perm need 2 entries}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, 0] step [1, 1] size [4, 6, 1] perm [0, 1]>

// -----

// expected-error@+1 {{source "w": from, step, size and perm need 2 entries}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, 0] step [1, 1] size [4, 6] perm [0]>

// -----

// Source C3: before the dimension, at its end, and nothing of it.
// expected-error@+1 {{source "w": slice 1 leaves its dimension of 6}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, -1] step [1, 1] size [4, 6] perm [0, 1]>

// -----

// expected-error@+1 {{source "w": slice 1 leaves its dimension of 6}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, 6] step [1, 1] size [4, 1] perm [0, 1]>

// -----

// expected-error@+1 {{source "w": slice 0 leaves its dimension of 4}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, 0] step [1, 1] size [0, 6] perm [0, 1]>

// -----

// Source C4: no dimension is -1 or the rank.
// expected-error@+1 {{source "w": perm is not a permutation}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, 0] step [1, 1] size [4, 6] perm [0, -1]>

// -----

// expected-error@+1 {{source "w": perm is not a permutation}}
#source = #tp.source<"w" : [4, 6] as [4, 6] from [0, 0] step [1, 1] size [4, 6] perm [2, 0]>

// -----

// Source C5, of the shape it is read as.
// expected-error@+1 {{source "w": its sizes are not positive, or make more than 2^46 elements}}
#source = #tp.source<"w" : [4, 6] as [-4, -6] from [0, 0] step [1, 1] size [4, 6] perm [0, 1]>
