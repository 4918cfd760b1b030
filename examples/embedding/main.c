/* A C program that prices with printed code: cc main.c price.c && ./a.out */
#include <stdio.h>

#include "price.h"

int main(void) {
    double spot[4] = {40.0, 90.0, 100.0, 110.0};
    double value[4], delta[4], vega[4];
    int32_t status[4];
    int64_t lost = price_gradient(4, spot, 95.0, 0.03, 0.2, 1.0, value, delta, vega, status);
    for (int i = 0; i < 4; i++)
        printf("%.17g %.17g %.17g %s\n", value[i], delta[i], vega[i], price_status(status[i]));

    double one, slope, volatility;
    if (price_gradient_one(100.0, 95.0, 0.03, 0.2, 1.0, &one, &slope, &volatility) == 0)
        printf("one row: %.17g %.17g %.17g\n", one, slope, volatility);
    return lost != 0;
}
