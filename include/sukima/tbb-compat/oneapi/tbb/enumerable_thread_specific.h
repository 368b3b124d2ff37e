// SPDX-License-Identifier: Apache-2.0
// tbb::enumerable_thread_specific: a T for each thread that requests one, and iterators over all of them.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/cache_aligned_allocator.h>
#include <oneapi/tbb/concurrent_vector.h>
#include <oneapi/tbb/detail/container_range.h>
#include <oneapi/tbb/profiling.h>
#include <oneapi/tbb/task.h>
#include <oneapi/tbb/tbb_allocator.h>
#include <sukima/detail/tbb/indexed_iterator.hpp>
#include <sukima/detail/tbb/thread_slots.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tbb {

/// How an enumerable_thread_specific finds a thread's element. Here all values have the same effect.
enum ets_key_usage_type { ets_key_per_instance, ets_no_key, ets_suspend_aware };

template <class T, class Allocator, ets_key_usage_type Key> class enumerable_thread_specific;

}  // namespace tbb

namespace sukima::detail::tbb {
/// Makes the elements.
template <class T> struct element_factory {
  element_factory() = default;
  element_factory(const element_factory&) = delete;
  element_factory& operator=(const element_factory&) = delete;
  virtual ~element_factory() = default;
  virtual void operator()(T* at) = 0;
};
template <class T> inline constexpr bool is_thread_specific = false;
template <class T, class A, ::tbb::ets_key_usage_type Key>
inline constexpr bool is_thread_specific<::tbb::enumerable_thread_specific<T, A, Key>> = true;
}  // namespace sukima::detail::tbb

namespace tbb {

/// Long: the interface of a container is as long as TBB has it.
template <class T, class Allocator = cache_aligned_allocator<T>, ets_key_usage_type Key = ets_no_key>
class enumerable_thread_specific {
  using traits = typename std::allocator_traits<Allocator>::template rebind_traits<T>;
  using element_allocator = typename traits::allocator_type;

 public:
  using value_type = T;
  using allocator_type = Allocator;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = ::sukima::detail::tbb::indexed_iterator<enumerable_thread_specific, T>;
  using const_iterator = ::sukima::detail::tbb::indexed_iterator<const enumerable_thread_specific, const T>;
  using range_type = ::sukima::detail::tbb::container_range<iterator>;
  using const_range_type = ::sukima::detail::tbb::container_range<const_iterator>;

  enumerable_thread_specific() : factory_(make_factory([](T* at) { ::new (static_cast<void*>(at)) T(); })) {}
  /// Makes elements by init().
  template <class Init>
    requires(std::is_invocable_v<std::decay_t<Init>&> && !std::is_same_v<std::decay_t<Init>, T>)
  explicit enumerable_thread_specific(Init init)
      : factory_(make_factory(
            [init = std::move(init)](T* at) mutable { ::new (static_cast<void*>(at)) T(init()); })) {}
  /// Makes elements as copies of this one.
  explicit enumerable_thread_specific(const T& exemplar) : enumerable_thread_specific(T(exemplar), 0) {}
  explicit enumerable_thread_specific(T&& exemplar) : enumerable_thread_specific(std::move(exemplar), 0) {}
  /// Makes elements from these arguments.
  template <class P, class... More>
    requires(!std::is_invocable_v<std::decay_t<P>&> && !std::is_same_v<std::decay_t<P>, T> &&
             !::sukima::detail::tbb::is_thread_specific<std::decay_t<P>>)
  explicit enumerable_thread_specific(P&& first, More&&... more)
      : factory_(
            make_factory([all = std::make_tuple(std::forward<P>(first), std::forward<More>(more)...)](T* at) {
              std::apply([at](const auto&... each) { ::new (static_cast<void*>(at)) T(each...); }, all);
            })) {}

  enumerable_thread_specific(const enumerable_thread_specific& other) : factory_(other.factory_) {
    copy(other);
  }
  enumerable_thread_specific(enumerable_thread_specific&& other) : factory_(other.factory_) { swap(other); }
  enumerable_thread_specific& operator=(const enumerable_thread_specific& other) {
    if (this == &other) return *this;
    clear();
    factory_ = other.factory_;
    copy(other);
    return *this;
  }
  enumerable_thread_specific& operator=(enumerable_thread_specific&& other) {
    if (this == &other) return *this;
    clear();
    factory_ = other.factory_;
    swap(other);
    return *this;
  }
  /// From an object with another allocator or another way to find an element. Copies or moves the elements
  /// one by one.
  template <class A, ets_key_usage_type K>
  enumerable_thread_specific(  // NOLINT(google-explicit-constructor)
      const enumerable_thread_specific<T, A, K>& other)
      : factory_(other.factory_) {
    copy(other);
  }
  template <class A, ets_key_usage_type K>
  enumerable_thread_specific(  // NOLINT(google-explicit-constructor)
      enumerable_thread_specific<T, A, K>&& other)
      : factory_(other.factory_) {
    move(other);
  }
  template <class A, ets_key_usage_type K>
  enumerable_thread_specific& operator=(const enumerable_thread_specific<T, A, K>& other) {
    clear();
    factory_ = other.factory_;
    copy(other);
    return *this;
  }
  template <class A, ets_key_usage_type K>
  enumerable_thread_specific& operator=(enumerable_thread_specific<T, A, K>&& other) {
    clear();
    factory_ = other.factory_;
    move(other);
    return *this;
  }
  ~enumerable_thread_specific() { clear(); }

  reference local() {
    bool exists = false;
    return local(exists);
  }
  /// \param exists  set to whether the thread had an element before
  reference local(bool& exists) {
    const ::sukima::detail::tbb::thread_key key = ::sukima::detail::tbb::this_thread_key();
    if (T** const found = slots_.find(key)) {
      exists = true;
      return **found;
    }
    exists = false;
    return add(key, [this](T* at) { (*factory_)(at); });
  }
  void clear() {
    for (size_type i = 0; i < slots_.size(); ++i) destroy(slots_[i].value);
    slots_.clear();
  }

  iterator begin() { return {*this, 0}; }
  iterator end() { return {*this, slots_.size()}; }
  const_iterator begin() const { return {*this, 0}; }
  const_iterator end() const { return {*this, slots_.size()}; }
  range_type range(size_type grainsize = 1) { return {begin(), end(), grainsize}; }
  const_range_type range(size_type grainsize = 1) const { return {begin(), end(), grainsize}; }
  size_type size() const { return slots_.size(); }
  bool empty() const { return slots_.size() == 0; }
  /// For the iterators.
  reference at_index(size_type i) { return *slots_[i].value; }
  const_reference at_index(size_type i) const { return *slots_[i].value; }

  /// Returns combine(combine(t1, t2), t3) …; a new T if there is none
  template <class Combine> T combine(Combine combine) {
    if (empty()) {
      alignas(T) unsigned char memory[sizeof(T)];
      T* const made = reinterpret_cast<T*>(memory);
      (*factory_)(made);
      const std::unique_ptr<T, void (*)(T*)> own(made, [](T* t) { t->~T(); });
      return *made;
    }
    const_iterator each = std::as_const(*this).begin();
    T result = *each;
    for (++each; each != std::as_const(*this).end(); ++each) result = combine(result, *each);
    return result;
  }
  template <class F> void combine_each(F f) {
    for (T& each : *this) f(each);
  }

 private:
  template <class, class, ets_key_usage_type> friend class enumerable_thread_specific;
  using factory = ::sukima::detail::tbb::element_factory<T>;
  template <class F> static std::shared_ptr<factory> make_factory(F f) {
    struct made final : factory {
      F f;
      explicit made(F&& g) : f(std::move(g)) {}
      void operator()(T* at) override { f(at); }
    };
    return std::make_shared<made>(std::move(f));
  }
  enumerable_thread_specific(T&& exemplar, int)
      : factory_(make_factory(
            [exemplar = std::move(exemplar)](T* at) { ::new (static_cast<void*>(at)) T(exemplar); })) {}

  template <class Construct> T& add(::sukima::detail::tbb::thread_key key, Construct construct) {
    element_allocator memory;
    T* const at = traits::allocate(memory, 1);
    try {
      construct(at);
    } catch (...) {
      traits::deallocate(memory, at, 1);
      throw;
    }
    try {
      return *slots_.insert(key, at);
    } catch (...) {
      destroy(at);
      throw;
    }
  }
  static void destroy(T* t) noexcept {
    element_allocator memory;
    t->~T();
    traits::deallocate(memory, t, 1);
  }
  template <class Other> void copy(const Other& other) {
    for (size_type i = 0; i < other.slots_.size(); ++i)
      add(other.slots_[i].key, [&](T* at) { ::new (static_cast<void*>(at)) T(*other.slots_[i].value); });
  }
  template <class Other> void move(Other& other) {
    for (size_type i = 0; i < other.slots_.size(); ++i)
      add(other.slots_[i].key,
          [&](T* at) { ::new (static_cast<void*>(at)) T(std::move(*other.slots_[i].value)); });
  }
  void swap(enumerable_thread_specific& other) { slots_.swap(other.slots_); }

  std::shared_ptr<factory> factory_;
  ::sukima::detail::tbb::thread_slots<T*> slots_;
};

/// The elements of containers in a container, one after the other.
template <class Container> class flattened2d {
  using outer_iterator = typename Container::const_iterator;
  using inner = typename Container::value_type;

 public:
  using size_type = typename inner::size_type;
  using difference_type = typename inner::difference_type;
  using allocator_type = typename inner::allocator_type;
  using value_type = typename inner::value_type;
  using reference = typename inner::reference;
  using const_reference = typename inner::const_reference;
  using pointer = typename inner::pointer;
  using const_pointer = typename inner::const_pointer;

  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = typename flattened2d::value_type;
    using difference_type = typename flattened2d::difference_type;
    using reference = const_reference;
    using pointer = const value_type*;

    const_iterator() = default;
    reference operator*() const { return *at_; }
    pointer operator->() const { return std::addressof(*at_); }
    const_iterator& operator++() {
      ++at_;
      skip_ends();
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const const_iterator& other) const {
      return outer_ == other.outer_ && (outer_ == last_ || at_ == other.at_);
    }

   private:
    friend class flattened2d;
    const_iterator(outer_iterator outer, outer_iterator last) : outer_(outer), last_(last) {
      if (outer_ == last_) return;
      at_ = outer_->begin();
      skip_ends();
    }
    void skip_ends() {
      while (at_ == outer_->end()) {
        if (++outer_ == last_) return;
        at_ = outer_->begin();
      }
    }
    outer_iterator outer_;
    outer_iterator last_;
    typename inner::const_iterator at_;
  };
  using iterator = const_iterator;

  explicit flattened2d(const Container& c) : flattened2d(c, c.begin(), c.end()) {}
  flattened2d(const Container&, outer_iterator first, outer_iterator last) : first_(first), last_(last) {}

  const_iterator begin() const { return {first_, last_}; }
  const_iterator end() const { return {last_, last_}; }
  size_type size() const {
    size_type sum = 0;
    for (outer_iterator i = first_; i != last_; ++i) sum += i->size();
    return sum;
  }

 private:
  outer_iterator first_;
  outer_iterator last_;
};

template <class Container> flattened2d<Container> flatten2d(const Container& c) {
  return flattened2d<Container>(c);
}
template <class Container> flattened2d<Container> flatten2d(const Container& c,
                                                            const typename Container::const_iterator first,
                                                            const typename Container::const_iterator last) {
  return flattened2d<Container>(c, first, last);
}

}  // namespace tbb
