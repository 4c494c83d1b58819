//! A loader that cuts its list of drivers in place, as Khronos' does, cuts it for this process alone.
//!
//! One test in a process of its own, since it decides which library the process opens.

use lockstep_core::Backend;
use lockstep_opencl::{Opencl, loader};
use std::process::Command;

/// A library that ends the list at its first colon when it is first called.
const LOADER: &str = "
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
static int calls;
int clGetPlatformIDs(unsigned entries, void *platforms, unsigned *count) {
    char *list = getenv(\"OCL_ICD_FILENAMES\");
    if (!calls++ && list) *strchrnul(list, ':') = '\\0';
    if (count) *count = 0;
    return 0;
}
";

#[test]
fn processes_that_this_one_starts_see_every_listed_driver() {
    let folder = tempfile::tempdir().unwrap();
    let [source, library] = ["loader.c", "libOpenCL.so.1"].map(|name| folder.path().join(name));
    std::fs::write(&source, LOADER).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(built.unwrap().success());
    // SAFETY: this test has the process to itself.
    unsafe {
        std::env::set_var(loader::VARIABLE, &library);
        std::env::set_var("OCL_ICD_FILENAMES", "liba.so:libb.so");
    }
    assert!(Opencl.targets()[0].state.is_err(), "the library offers no device");
    let printed = Command::new("printenv").arg("OCL_ICD_FILENAMES").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "liba.so:libb.so\n");
}
