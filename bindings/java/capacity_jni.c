// SPDX-License-Identifier: Apache-2.0
// The native methods of sukima.Capacity.
#include <jni.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sukima/capacity.h>

static void throw_state(JNIEnv* env, const char* text) {
  const jclass type = (*env)->FindClass(env, "java/lang/IllegalStateException");
  if (type != NULL) (*env)->ThrowNew(env, type, text);
}

/// Reads everything. NULL: an exception is pending.
static sukima_capacity_report* read_report(JNIEnv* env) {
  sukima_capacity_report* report = sukima_capacity_explain(NULL);
  if (report == NULL) {
    throw_state(env, "sukima: there is no memory for the answer");
  } else if (report->error != NULL) {
    throw_state(env, report->error);
    sukima_capacity_report_free(report);
    report = NULL;
  }
  return report;
}

JNIEXPORT jdouble JNICALL Java_sukima_Capacity_usableCpus(JNIEnv* env, jclass type) {
  (void)type;
  sukima_capacity_report* report = read_report(env);
  if (report == NULL) return 0;
  const double usable = report->facts.usable;
  sukima_capacity_report_free(report);
  return usable;
}

JNIEXPORT jstring JNICALL Java_sukima_Capacity_reason(JNIEnv* env, jclass type) {
  (void)type;
  sukima_capacity_report* report = read_report(env);
  if (report == NULL) return NULL;
  char text[8192] = "";
  for (size_t i = 0; i < report->limit_count; i++) {
    const sukima_capacity_limit* limit = &report->limits[i];
    if (limit->is_binding) snprintf(text, sizeof text, "%s (%s)", limit->text, limit->file);
  }
  sukima_capacity_report_free(report);
  return (*env)->NewStringUTF(env, text);
}

JNIEXPORT jdouble JNICALL Java_sukima_Capacity_freeCpus(JNIEnv* env, jclass type, jdouble seconds) {
  (void)type;
  sukima_capacity_estimate estimate;
  const int code = sukima_capacity_estimate_once(NULL, 0, seconds, &estimate);
  if (code == 0) return estimate.usable;
  sukima_capacity_report* report = read_report(env);
  if (report != NULL) throw_state(env, strerror(code));
  sukima_capacity_report_free(report);
  return 0;
}

JNIEXPORT jint JNICALL Java_sukima_Capacity_threadsFor(JNIEnv* env, jclass type, jdouble cpus) {
  (void)env;
  (void)type;
  const uint32_t threads = sukima_capacity_threads(cpus, NULL);
  return threads <= INT32_MAX ? (jint)threads : INT32_MAX;
}
