// A C++ program that prices with printed code: c++ -c main.cpp && cc -c price.c && c++ main.o price.o
#include <cstdint>
#include <cstdio>
#include <vector>

#include "price.h"

int main() {
    std::vector<double> spot{40.0, 90.0, 100.0, 110.0};
    std::vector<double> value(spot.size()), delta(spot.size()), vega(spot.size());
    std::vector<std::int32_t> status(spot.size());
    auto lost = price_gradient(spot.size(), spot.data(), 95.0, 0.03, 0.2, 1.0, value.data(),
                               delta.data(), vega.data(), status.data());
    for (std::size_t i = 0; i < spot.size(); i++)
        std::printf("%.17g %.17g %.17g %s\n", value[i], delta[i], vega[i], price_status(status[i]));

    // The Hessian times a vector: gamma and vanna, the slopes of delta.
    std::vector<double> ones(spot.size(), 1.0), zeros(spot.size(), 0.0), gamma(spot.size()),
        vanna(spot.size());
    lost += price_hvp(spot.size(), spot.data(), 95.0, 0.03, 0.2, 1.0, ones.data(), zeros.data(),
                      gamma.data(), vanna.data(), status.data());
    std::printf("gamma %.17g vanna %.17g\n", gamma[2], vanna[2]);
    return lost != 0;
}
