// SPDX-License-Identifier: Apache-2.0
// The addon of index.js, with Node-API.
#define NAPI_VERSION 6
#include <node_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sukima/capacity.h>

/// Reads everything. NULL: an exception is pending.
static sukima_capacity_report* read_report(napi_env env) {
  sukima_capacity_report* report = sukima_capacity_explain(NULL);
  if (report == NULL) {
    napi_throw_error(env, NULL, "sukima: there is no memory for the answer");
  } else if (report->error != NULL) {
    napi_throw_error(env, NULL, report->error);
    sukima_capacity_report_free(report);
    report = NULL;
  }
  return report;
}

/// The only argument of a call. 0: an exception is pending.
static int number_argument(napi_env env, napi_callback_info info, double* number) {
  size_t count = 1;
  napi_value argument;
  if (napi_get_cb_info(env, info, &count, &argument, NULL, NULL) == napi_ok && count == 1 &&
      napi_get_value_double(env, argument, number) == napi_ok)
    return 1;
  napi_throw_type_error(env, NULL, "give one argument: a number");
  return 0;
}

static napi_value usable_cpus(napi_env env, napi_callback_info info) {
  (void)info;
  sukima_capacity_report* report = read_report(env);
  if (report == NULL) return NULL;
  napi_value result = NULL;
  napi_create_double(env, report->facts.usable, &result);
  sukima_capacity_report_free(report);
  return result;
}

static napi_value reason(napi_env env, napi_callback_info info) {
  (void)info;
  sukima_capacity_report* report = read_report(env);
  if (report == NULL) return NULL;
  char text[8192] = "";
  for (size_t i = 0; i < report->limit_count; i++) {
    const sukima_capacity_limit* limit = &report->limits[i];
    if (limit->is_binding) snprintf(text, sizeof text, "%s (%s)", limit->text, limit->file);
  }
  sukima_capacity_report_free(report);
  napi_value result = NULL;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &result);
  return result;
}

static napi_value threads_for(napi_env env, napi_callback_info info) {
  double cpus;
  if (!number_argument(env, info, &cpus)) return NULL;
  napi_value result = NULL;
  napi_create_uint32(env, sukima_capacity_threads(cpus, NULL), &result);
  return result;
}

/// A measurement in libuv's pool, and the promise of its result.
typedef struct measurement {
  napi_async_work work;
  napi_deferred promise;
  double seconds;
  sukima_capacity_estimate estimate;
  int code;
} measurement;

static void measure(napi_env env, void* data) {
  (void)env;
  measurement* own = data;
  own->code = sukima_capacity_estimate_once(NULL, 0, own->seconds, &own->estimate);
}

/// Rejects the promise.
static void reject(napi_env env, const measurement* own, const char* text) {
  napi_value message = NULL, error = NULL;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &message);
  napi_create_error(env, NULL, message, &error);
  napi_reject_deferred(env, own->promise, error);
}

static void answer(napi_env env, napi_status status, void* data) {
  measurement* own = data;
  if (status == napi_ok && own->code == 0) {
    napi_value result = NULL;
    napi_create_double(env, own->estimate.usable, &result);
    napi_resolve_deferred(env, own->promise, result);
  } else {
    sukima_capacity_report* report = sukima_capacity_explain(NULL);
    const char* text = report != NULL && report->error != NULL ? report->error : strerror(own->code);
    reject(env, own, text);
    sukima_capacity_report_free(report);
  }
  napi_delete_async_work(env, own->work);
  free(own);
}

static napi_value free_cpus(napi_env env, napi_callback_info info) {
  double seconds;
  if (!number_argument(env, info, &seconds)) return NULL;
  measurement* own = calloc(1, sizeof *own);
  if (own == NULL) {
    napi_throw_error(env, NULL, "sukima: there is no memory for the answer");
    return NULL;
  }
  own->seconds = seconds;
  static const char not_started[] = "sukima: the measurement cannot be started";
  napi_value name = NULL, promise = NULL;
  napi_create_string_utf8(env, "sukima-capacity", NAPI_AUTO_LENGTH, &name);
  if (napi_create_async_work(env, NULL, name, measure, answer, own, &own->work) != napi_ok) {
    free(own);
    napi_throw_error(env, NULL, not_started);
    return NULL;
  }
  const bool promised = napi_create_promise(env, &own->promise, &promise) == napi_ok;
  if (promised && napi_queue_async_work(env, own->work) == napi_ok) return promise;
  if (promised)
    reject(env, own, not_started);
  else
    napi_throw_error(env, NULL, not_started);
  napi_delete_async_work(env, own->work);
  free(own);
  return promise;
}

NAPI_MODULE_INIT() {
  const napi_property_descriptor functions[] = {
      {"usableCpus", NULL, usable_cpus, NULL, NULL, NULL, napi_default, NULL},
      {"reason", NULL, reason, NULL, NULL, NULL, napi_default, NULL},
      {"threadsFor", NULL, threads_for, NULL, NULL, NULL, napi_default, NULL},
      {"freeCpus", NULL, free_cpus, NULL, NULL, NULL, napi_default, NULL},
  };
  napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
  return exports;
}
