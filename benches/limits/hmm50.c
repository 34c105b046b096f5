#define STATES 50
#define WIDTH 56
#include "hidden_markov.h"
