// SPDX-License-Identifier: Apache-2.0
// The native methods of sukima.Capacity.
#include <jni.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sukima/capacity.h>

/// Makes a string of UTF-8. Paths and variables may have any bytes; wrong ones are replaced. NewStringUTF
/// reads another code, with other bytes for characters beyond U+FFFF. NULL: an exception is pending.
static jstring string_of(JNIEnv* env, const char* text) {
  const jsize length = (jsize)strlen(text);
  const jclass type = (*env)->FindClass(env, "java/lang/String");
  if (type == NULL) return NULL;
  const jmethodID make = (*env)->GetMethodID(env, type, "<init>", "([BLjava/lang/String;)V");
  if (make == NULL) return NULL;
  const jstring code = (*env)->NewStringUTF(env, "UTF-8");
  if (code == NULL) return NULL;
  const jbyteArray bytes = (*env)->NewByteArray(env, length);
  if (bytes == NULL) return NULL;
  (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte*)text);
  return (*env)->NewObject(env, type, make, bytes, code);
}

static void throw_state(JNIEnv* env, const char* text) {
  const jclass type = (*env)->FindClass(env, "java/lang/IllegalStateException");
  if (type == NULL) return;
  const jmethodID make = (*env)->GetMethodID(env, type, "<init>", "(Ljava/lang/String;)V");
  if (make == NULL) return;
  const jstring sentence = string_of(env, text);
  if (sentence == NULL) return;
  const jthrowable error = (*env)->NewObject(env, type, make, sentence);
  if (error != NULL) (*env)->Throw(env, error);
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
  const sukima_capacity_limit* binding = NULL;
  for (size_t i = 0; i < report->limit_count; i++)
    if (report->limits[i].is_binding) binding = &report->limits[i];
  const size_t size = binding == NULL ? 1 : strlen(binding->text) + strlen(binding->file) + sizeof " ()";
  char* const text = calloc(size, 1);
  if (text != NULL && binding != NULL) snprintf(text, size, "%s (%s)", binding->text, binding->file);
  sukima_capacity_report_free(report);
  jstring result = NULL;
  if (text == NULL)
    throw_state(env, "sukima: there is no memory for the answer");
  else
    result = string_of(env, text);
  free(text);
  return result;
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
