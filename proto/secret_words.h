// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Masks the secrets of a command line before the command line is recorded. The launcher uses it for
// bundle.pb, the recorder for the trace of each process. Takes no memory and calls no library.
//
// Two kinds of secrets are masked. The first are the values of options and variables whose name
// speaks of a secret: --password=X, --token X, API_KEY=X, "X-Api-Key: X". The second are passwords
// in URLs. Other secrets cannot be recognised: GPUPROF_ARGUMENTS=none leaves all arguments out.

#pragma once

#include <cstddef>

namespace gpuprof::proto {

inline constexpr char kMaskedValue[] = "***";

class SecretMask {
 public:
  // Takes the next word of one command line. Hands the text to be recorded to `put(bytes, length)`,
  // piece by piece. The first word of a command line is the program: give it to no mask, or to a
  // mask that takes the arguments afterwards.
  template <typename Put>
  void Next(const char* word, size_t length, Put&& put) {
    const bool is_value = is_value_next_ && !StartsWith(word, length, "--");
    is_value_next_ = false;
    if (is_value && length != 0) return Mask(put);
    if (length > 1 && word[0] == '-' && Find(word, length, '=') == length &&
        IsSecretName(word, length)) {
      is_value_next_ = true;
      put(word, length);
      return;
    }
    Rest(word, length, put);
  }

 private:
  static constexpr char Lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  static constexpr bool IsLetter(char c) { return Lower(c) >= 'a' && Lower(c) <= 'z'; }
  static constexpr bool IsNamePart(char c) {
    return IsLetter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  }
  // Ends a value within a word. The value of a whole word has no end but the word's.
  static constexpr bool IsEnd(char c) {
    return c == '&' || c == ';' || c == '"' || c == '\'' || c == ' ' || c == '\t' || c == '\n';
  }
  static constexpr size_t Find(const char* text, size_t length, char c) {
    size_t at = 0;
    while (at < length && text[at] != c) ++at;
    return at;
  }
  static constexpr bool StartsWith(const char* text, size_t length, const char* start) {
    size_t at = 0;
    for (; start[at] != 0; ++at) {
      if (at == length || Lower(text[at]) != start[at]) return false;
    }
    return true;
  }

  // Returns whether the part of a name at `at` is exactly `part`, between other characters than
  // letters: "auth" in "http-auth", not in "author".
  static constexpr bool IsWholePart(const char* name, size_t length, size_t at, const char* part) {
    if (!StartsWith(name + at, length - at, part)) return false;
    size_t end = at;
    for (size_t i = 0; part[i] != 0; ++i) ++end;
    return (at == 0 || !IsLetter(name[at - 1])) && (end == length || !IsLetter(name[end]));
  }

  static constexpr bool IsSecretName(const char* name, size_t length) {
    constexpr const char* kAnywhere[] = {"password", "passwd",     "passphrase",
                                         "secret",   "credential", "key"};
    constexpr const char* kWhole[] = {"pass", "pwd", "pw", "auth", "authorization", "bearer"};
    for (size_t at = 0; at < length; ++at) {
      for (const char* part : kAnywhere) {
        if (StartsWith(name + at, length - at, part)) return true;
      }
      for (const char* part : kWhole) {
        if (IsWholePart(name, length, at, part)) return true;
      }
      // Tokenizers and counts of tokens belong to language models, not to secrets.
      constexpr size_t kTokenLetters = 5;
      if (StartsWith(name + at, length - at, "token") &&
          (at + kTokenLetters == length || !IsLetter(name[at + kTokenLetters])))
        return true;
    }
    return false;
  }

  template <typename Put>
  static void Mask(Put&& put) {
    put(kMaskedValue, sizeof(kMaskedValue) - 1);
  }

  // Finds the end of the value that begins at `*begin`, after a name that begins at `name`.
  static constexpr size_t EndOfValue(const char* word, size_t length, size_t name, size_t* begin) {
    if (name == 0) return length;
    const char quote = *begin < length ? word[*begin] : '\0';
    if (quote == '"' || quote == '\'') {
      ++*begin;
      return *begin + Find(word + *begin, length - *begin, quote);
    }
    size_t end = *begin;
    while (end < length && !IsEnd(word[end])) ++end;
    return end;
  }

  // Finds a secret of a URL: "//" is at `at`. Sets the part to be masked, if there is a part.
  static constexpr bool IsInUrl(const char* word, size_t length, size_t at, size_t* begin,
                                size_t* end) {
    size_t stop = at + 2, sign = length, colon = length;
    for (; stop < length && word[stop] != '/' && word[stop] != '?' && word[stop] != '#' &&
           !IsEnd(word[stop]);
         ++stop) {
      if (word[stop] == '@') sign = stop;
      if (word[stop] == ':' && colon == length) colon = stop;
    }
    if (sign == length) return false;
    const bool has_password = colon < sign;
    // The only word in front of a web address' @ is commonly a token.
    const bool is_web = at >= 5 && (StartsWith(word + at - 5, 5, "http:") ||
                                    (at >= 6 && StartsWith(word + at - 6, 6, "https:")));
    if (!has_password && !is_web) return false;
    *begin = has_password ? colon + 1 : at + 2;
    *end = sign;
    return *begin < *end;
  }

  // Finds the secret that a name gives away: a separator is at `at`.
  static constexpr bool IsAfterName(const char* word, size_t length, size_t first, size_t at,
                                    size_t* begin, size_t* end) {
    const bool is_header = word[at] == ':' && at + 1 < length && word[at + 1] == ' ';
    if (word[at] != '=' && !is_header) return false;
    size_t name = at;
    while (name > first && IsNamePart(word[name - 1])) --name;
    if (!IsSecretName(word + name, at - name)) return false;
    *begin = at + (is_header ? 2 : 1);
    // A header has no separators: "Authorization: Bearer X" is one value.
    *end = is_header ? length : EndOfValue(word, length, name, begin);
    return *begin < *end;
  }

  template <typename Put>
  static void Rest(const char* word, size_t length, Put&& put) {
    size_t kept = 0;  // up to here all was handed over
    for (size_t at = 0; at < length; ++at) {
      size_t begin = 0, end = 0;
      const bool is_url = word[at] == '/' && at > 0 && word[at - 1] == ':' && at + 1 < length &&
                          word[at + 1] == '/';
      const bool is_found = is_url ? IsInUrl(word, length, at, &begin, &end)
                                   : IsAfterName(word, length, kept, at, &begin, &end);
      if (!is_found) continue;
      put(word + kept, begin - kept);
      Mask(put);
      kept = end;
      at = end - 1;
    }
    if (kept < length) put(word + kept, length - kept);
  }

  bool is_value_next_ = false;
};

}  // namespace gpuprof::proto
