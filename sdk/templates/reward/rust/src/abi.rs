//! The part of kernelrl/abi.h that a reward needs; the header is the specification. Structs grow at their ends only.
#![allow(dead_code)]
use std::ffi::c_void;

pub const OK: i32 = 0;
pub const INTERNAL: i32 = 13;
pub const FLOAT: u32 = 3;
pub const REWARD: u32 = 3;
pub const THREAD_SAFE: u32 = 1;
pub const DETERMINISTIC: u32 = 2;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Str {
    data: *const u8,
    size: usize,
}

impl Str {
    pub const fn new(text: &'static str) -> Str {
        Str { data: text.as_ptr(), size: text.len() }
    }
    /// The text, which the host lends for the call.
    pub fn get(&self) -> &str {
        if self.data.is_null() {
            return "";
        }
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(self.data, self.size)) }
    }
}

#[repr(C)]
pub struct Array<T> {
    data: *const T,
    size: usize,
}

#[repr(C)]
pub struct Call {
    struct_size: u32,
    flags: u32,
    ctx: *mut c_void,
    pub deadline_ns: i64,
    cancelled: extern "C" fn(*const Call) -> i32,
    progress: extern "C" fn(*const Call, f64, Str),
    log: extern "C" fn(*const Call, i32, Str),
    pub fail: extern "C" fn(*const Call, i32, Str) -> i32,
    metric: extern "C" fn(*const Call, Str, f64),
}

#[repr(C)]
pub struct Field {
    pub struct_size: u32,
    pub kind: u32,
    pub flags: u32,
    pub reserved: u32,
    pub key: Str,
    pub fallback: Str,
    pub range: Str,
    pub doc: Str,
}

#[repr(C)]
pub struct Config {
    struct_size: u32,
    flags: u32,
    ctx: *mut c_void,
    get_bool: extern "C" fn(*const Config, Str, *mut i32) -> i32,
    get_int: extern "C" fn(*const Config, Str, *mut i64) -> i32,
    pub get_float: extern "C" fn(*const Config, Str, *mut f64) -> i32,
    get_string: extern "C" fn(*const Config, Str, *mut Str) -> i32,
    json: extern "C" fn(*const Config) -> Str,
}

#[repr(C)]
pub struct Turn {
    struct_size: u32,
    pub index: u32,
    task: *const c_void,
    pub prompt: Str,
    pub answer: Str,
    pub thinking: Str,
    pub source: Str,
    pub format: u32,
    pub stop_reason: u32,
    tokens: Array<i32>,
    logprobs: Array<f32>,
    evaluation: *const c_void,
    previous: *const Turn,
}

#[repr(C)]
pub struct RewardTable {
    pub struct_size: u32,
    pub needs: u32,
    pub score: extern "C" fn(*mut c_void, *const Call, *const *const Turn, usize, *mut f64) -> i32,
}

#[repr(C)]
pub struct Component {
    pub struct_size: u32,
    pub kind: u32,
    pub flags: u32,
    pub n_fields: u32,
    pub id: Str,
    pub summary: Str,
    pub fields: *const &'static Field,
    pub create: extern "C" fn(*const c_void, *const Config, *const Call, *mut *mut c_void) -> i32,
    pub destroy: extern "C" fn(*mut c_void),
    pub table: *const RewardTable,
}

#[repr(C)]
pub struct Plugin {
    pub struct_size: u32,
    pub abi_minor: u32,
    pub name: Str,
    pub version: Str,
    pub license: Str,
    pub built_with: Str,
    pub components: *const &'static Component,
    pub n_components: usize,
}

unsafe impl Sync for Field {}
unsafe impl Sync for Component {}
unsafe impl Sync for Plugin {}
