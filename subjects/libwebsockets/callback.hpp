// What a callback tells the library.

#pragma once

constexpr int CARRY_ON = 0;
constexpr int CLOSE = -1;
