// SPDX-License-Identifier: Apache-2.0
// Finds the installed library with pkg-config and links the static one, so that the program needs nothing at run time.
use std::env;
use std::process::{exit, Command};

/// The output of pkg-config with these arguments, or the reason why there is none.
fn pkg_config(arguments: &[&str]) -> Result<String, String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_string());
    let done = Command::new(&program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program} cannot be started: {error}; install pkg-config"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).trim().to_string());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().to_string();
    Err(format!("{said}\nInstall Sukima (libsukima-dev), or set PKG_CONFIG_PATH to its lib/pkgconfig"))
}

fn find_library() -> Result<String, String> {
    // Until version 1.0 a new minor version may change the interface.
    let minor: u32 = env!("CARGO_PKG_VERSION_MINOR").parse().expect("cargo's version");
    let lowest = format!("sukima-capacity >= 0.{minor}");
    let limit = format!("sukima-capacity < 0.{}", minor + 1);
    pkg_config(&["--exists", "--print-errors", &lowest, &limit])?;
    pkg_config(&["--variable=libdir", "sukima-capacity"])
}

fn main() {
    for variable in ["PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let folder = find_library().unwrap_or_else(|reason| {
        eprintln!("sukima-capacity: {reason}");
        exit(1);
    });
    println!("cargo:rerun-if-changed={folder}/libsukima-capacity.a");
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=static=sukima-capacity");
    println!("cargo:rustc-link-lib=m");
}
