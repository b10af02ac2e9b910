; The functions with which kernels allocate. Numba's own code reads and counts in what they return: the number of
; users, a function that clears up, its argument, the data, their size, an allocator (never one here).

declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

define ptr @NRT_Allocate(i64 %size) {
  %data = call ptr @malloc(i64 %size)
  ret ptr %data
}

define void @NRT_Free(ptr %data) {
  call void @free(ptr %data)
  ret void
}

define internal void @tarn_fill(ptr %info, ptr %dtor, ptr %argument, ptr %data, i64 %size) {
  store i64 1, ptr %info
  %at1 = getelementptr i64, ptr %info, i64 1
  store ptr %dtor, ptr %at1
  %at2 = getelementptr i64, ptr %info, i64 2
  store ptr %argument, ptr %at2
  %at3 = getelementptr i64, ptr %info, i64 3
  store ptr %data, ptr %at3
  %at4 = getelementptr i64, ptr %info, i64 4
  store i64 %size, ptr %at4
  %at5 = getelementptr i64, ptr %info, i64 5
  store ptr null, ptr %at5
  ret void
}

; Arrays: the data lie behind these fields, aligned as asked for.
define noalias ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %room = add i64 %wide, 48
  %whole = add i64 %room, %size
  %overflow = icmp ult i64 %whole, %size
  br i1 %overflow, label %none, label %ask
ask:
  %info = call ptr @malloc(i64 %whole)
  %failed = icmp eq ptr %info, null
  br i1 %failed, label %none, label %given
given:
  %start = ptrtoint ptr %info to i64
  %behind = add i64 %start, %room
  %over = urem i64 %behind, %wide
  %where = sub i64 %behind, %over
  %data = inttoptr i64 %where to ptr
  call void @tarn_fill(ptr %info, ptr null, ptr null, ptr %data, i64 %size)
  ret ptr %info
none:
  ret ptr null
}

define noalias ptr @NRT_MemInfo_alloc(i64 %size) {
  %info = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %info
}

; Lists, which sorting uses: their data may move, and clear up after themselves.
define internal void @tarn_clear_list(ptr %data, i64 %size, ptr %argument) {
  %plain = icmp eq ptr %argument, null
  br i1 %plain, label %over, label %items
items:
  call void %argument(ptr %data)
  br label %over
over:
  call void @free(ptr %data)
  ret void
}

define noalias ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %dtor) {
  %data = call ptr @malloc(i64 %size)
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %none, label %ask
ask:
  %info = call ptr @malloc(i64 48)
  %lost = icmp eq ptr %info, null
  br i1 %lost, label %back, label %given
given:
  call void @tarn_fill(ptr %info, ptr @tarn_clear_list, ptr %dtor, ptr %data, i64 %size)
  ret ptr %info
back:
  call void @free(ptr %data)
  br label %none
none:
  ret ptr null
}

define ptr @NRT_MemInfo_varsize_realloc(ptr %info, i64 %size) {
  %at3 = getelementptr i64, ptr %info, i64 3
  %before = load ptr, ptr %at3
  %data = call ptr @realloc(ptr %before, i64 %size)
  store ptr %data, ptr %at3
  %at4 = getelementptr i64, ptr %info, i64 4
  store i64 %size, ptr %at4
  ret ptr %data
}

define ptr @NRT_MemInfo_varsize_alloc(ptr %info, i64 %size) {
  %data = call ptr @malloc(i64 %size)
  %at3 = getelementptr i64, ptr %info, i64 3
  store ptr %data, ptr %at3
  %at4 = getelementptr i64, ptr %info, i64 4
  store i64 %size, ptr %at4
  ret ptr %data
}

define void @NRT_MemInfo_varsize_free(ptr %info, ptr %data) {
  call void @free(ptr %data)
  %at3 = getelementptr i64, ptr %info, i64 3
  %there = load ptr, ptr %at3
  %same = icmp eq ptr %there, %data
  br i1 %same, label %forget, label %over
forget:
  store ptr null, ptr %at3
  br label %over
over:
  ret void
}

define void @NRT_MemInfo_call_dtor(ptr %info) {
  %at1 = getelementptr i64, ptr %info, i64 1
  %dtor = load ptr, ptr %at1
  %plain = icmp eq ptr %dtor, null
  br i1 %plain, label %over, label %clear
clear:
  %at2 = getelementptr i64, ptr %info, i64 2
  %argument = load ptr, ptr %at2
  %at3 = getelementptr i64, ptr %info, i64 3
  %data = load ptr, ptr %at3
  %at4 = getelementptr i64, ptr %info, i64 4
  %size = load i64, ptr %at4
  call void %dtor(ptr %data, i64 %size, ptr %argument)
  br label %over
over:
  call void @free(ptr %info)
  ret void
}

; What arrays in Python call when nobody uses them any more.
define void @tarn_release(ptr %info) {
  %before = atomicrmw sub ptr %info, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %over, label %used
over:
  call void @NRT_MemInfo_call_dtor(ptr %info)
  ret void
used:
  ret void
}

; A number as an array of one item in each of some dimensions, or an array of one dimension as what it is; what
; else it could be asked for is left to Numba.
define i32 @numba_attempt_nocopy_reshape(i64 %dimensions, ptr %shape, ptr %strides, i64 %wanted, ptr %new_shape,
                                         ptr %new_strides, i64 %itemsize, i32 %is_fortran) {
start:
  %is_number = icmp eq i64 %dimensions, 0
  br i1 %is_number, label %many, label %one
one:
  %stride = load i64, ptr %strides
  store i64 %stride, ptr %new_strides
  ret i32 1
many:
  br label %next
next:
  %place = phi i64 [ 0, %many ], [ %after, %fill ]
  %done = icmp eq i64 %place, %wanted
  br i1 %done, label %over, label %fill
fill:
  %at = getelementptr i64, ptr %new_strides, i64 %place
  store i64 %itemsize, ptr %at
  %after = add i64 %place, 1
  br label %next
over:
  ret i32 1
}
