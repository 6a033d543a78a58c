#pragma once

#include <string>
#include <vector>

namespace ricochet::app {

/// The words between the commas of "a,b,c", trimmed; empty ones too, but none of an empty text.
std::vector<std::string> words_of(const std::string& list);

/// A number > 0 given to an option; 0 where nothing is given. Throws base::InputError for others.
double positive_option(const std::string& option, const std::string& text);

/// A whole number >= 0. Throws base::InputError for others.
int whole_option(const std::string& option, const std::string& text);

}  // namespace ricochet::app
