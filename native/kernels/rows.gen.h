/* Generated from src/retrograde/ops/scalar.py by tools/regenerate.py: do not edit. */
#ifndef RG_ROWS_GEN_H
#define RG_ROWS_GEN_H

#define CALLED static RG_NEVER_INLINE RG_UNUSED

CALLED vd rgs_stirling_rest(vd x) {
    vd s1 = v_div(v_div(v_set(1.0), x), x);
    return v_div(v_add(v_set(0.08333333333332846), v_mul(s1, v_add(v_set(-0.002777777775518135), v_mul(s1, v_add(v_set(0.0007936504289200681), v_mul(s1, v_add(v_set(-0.0005952086221883123), v_mul(s1, v_add(v_set(0.0008403563803617168), v_mul(s1, v_add(v_set(-0.001875393513527176), v_mul(s1, v_add(v_set(0.005549213550518392), v_mul(s1, v_add(v_set(-0.017024921983356506), v_mul(s1, v_add(v_set(0.040346591282143685), v_mul(s1, v_set(-0.04928960129055561))))))))))))))))))), x);
}

CALLED vd rgs_log_gamma(vd x) {
    vd s1 = v_abs(x);
    vd s2 = v_select(v_ge(x, v_set(2.0)), v_sub(x, v_set(2.0)), v_select(v_ge(x, v_set(1.0)), v_sub(x, v_set(1.0)), v_select(v_ge(x, v_set(0.0)), x, v_select(v_gt(x, v_set(-1.0)), v_add(x, v_set(1.0)), v_select(v_gt(x, v_set(-2.0)), v_add(x, v_set(2.0)), v_add(x, v_set(3.0)))))));
    vd s3 = v_select(vm_and(v_lt(x, v_set(0.0)), v_gt(x, v_set(-1.0))), x, v_sub(s2, v_set(1.0)));
    vd s4 = v_mul(v_mul(s2, s3), v_add(v_set(0.4831289505409809), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(-0.14595989591430608), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(0.06291140107456945), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(-0.03130848750100996), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(0.016797098630837354), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(-0.009425622448624275), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(0.005446457856416762), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(-0.003212074068929319), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(0.0019229159364923141), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(-0.0011644147016826286), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(0.0007115239910037748), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(-0.0004379914234919181), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(0.00027127335730736993), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(-0.00016893212907292385), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(0.0001055642726690397), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(-6.606407454823539e-05), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(4.236348642975285e-05), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(-2.7455523487610547e-05), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(1.436660890419623e-05), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(-7.891074746941363e-06), v_mul(v_sub(s2, v_set(0.5)), v_add(v_set(1.1240614588729303e-05), v_mul(v_sub(s2, v_set(0.5)), v_set(-8.122659178311168e-06))))))))))))))))))))))))))))))))))))))))))));
    vd s5 = v_select(vm_and(v_lt(x, v_set(0.0)), v_gt(x, v_set(-3.0))), x, v_set(-0.5));
    vd s6 = v_add(s5, v_set(1.0));
    vd s7 = v_mul(s5, s6);
    vd s8 = v_mul(s5, v_set(134217729.0));
    vd s9 = v_sub(s8, v_sub(s8, s5));
    vd s10 = v_sub(s5, s9);
    vd s11 = v_mul(s6, v_set(134217729.0));
    vd s12 = v_sub(s11, v_sub(s11, s6));
    vd s13 = v_sub(s6, s12);
    vd s14 = v_add(v_add(v_add(v_sub(v_mul(s9, s12), s7), v_mul(s9, s13)), v_mul(s10, s12)), v_mul(s10, s13));
    vd s15 = v_select(v_lt(s5, v_set(-1.0)), v_add(s5, v_set(2.0)), v_set(1.0));
    vd s16 = v_mul(s7, s15);
    vd s17 = v_mul(s7, v_set(134217729.0));
    vd s18 = v_sub(s17, v_sub(s17, s7));
    vd s19 = v_sub(s7, s18);
    vd s20 = v_mul(s15, v_set(134217729.0));
    vd s21 = v_sub(s20, v_sub(s20, s15));
    vd s22 = v_sub(s15, s21);
    vd s23 = v_add(v_add(v_add(v_sub(v_mul(s18, s21), s16), v_mul(s18, s22)), v_mul(s19, s21)), v_mul(s19, s22));
    vd s24 = v_add(s23, v_mul(s14, s15));
    vd s25 = v_select(v_lt(s5, v_set(-2.0)), v_add(s5, v_set(3.0)), v_set(1.0));
    vd s26 = v_mul(s16, s25);
    vd s27 = v_mul(s16, v_set(134217729.0));
    vd s28 = v_sub(s27, v_sub(s27, s16));
    vd s29 = v_sub(s16, s28);
    vd s30 = v_mul(s25, v_set(134217729.0));
    vd s31 = v_sub(s30, v_sub(s30, s25));
    vd s32 = v_sub(s25, s31);
    vd s33 = v_add(v_add(v_add(v_sub(v_mul(s28, s31), s26), v_mul(s28, s32)), v_mul(s29, s31)), v_mul(s29, s32));
    vd s34 = v_div(v_add(s33, v_mul(s24, s25)), v_select(v_eq(s26, v_set(0.0)), v_set(1.0), s26));
    vd s35 = v_select(v_lt(s1, v_set(3.0)), v_set(3.0), s1);
    vd s36 = v_add(v_mul(v_sub(s35, v_set(0.5)), v_sub(v_log(s35), v_set(1.0))), v_add(v_set(0.41893853320467267), rgs_stirling_rest(s35)));
    vd s37 = v_sub(s35, v_floor(s35));
    vd s38 = v_sin(v_mul(v_set(3.141592653589793), v_select(v_gt(s37, v_set(0.5)), v_sub(v_set(1.0), s37), s37)));
    vd s39 = v_select(v_ge(x, v_set(3.0)), v_set(1.0), v_select(v_ge(x, v_set(2.0)), v_sub(x, v_set(1.0)), v_select(v_ge(x, v_set(1.0)), v_set(1.0), v_select(v_ge(x, v_set(0.0)), x, v_select(v_gt(x, v_set(-3.0)), v_abs(s26), v_mul(s35, v_div(s38, v_set(3.141592653589793))))))));
    vd s40 = v_log(s39);
    vd s41 = v_select(v_ge(x, v_set(3.0)), s36, v_select(v_gt(x, v_set(-3.0)), s4, v_neg(s36)));
    return v_select(v_lt(x, v_set(-1.7976931348623157e+308)), s1, v_select(v_ge(x, v_set(2.0)), v_add(s41, s40), v_select(vm_and(v_lt(x, v_set(0.0)), v_gt(x, v_set(-3.0))), v_sub(v_sub(s41, s40), s34), v_sub(s41, s40))));
}

CALLED vd rgs_psi(vd x) {
    vd s1 = v_select(v_lt(x, v_set(0.0)), v_sub(v_set(1.0), x), x);
    vd s2 = v_select(v_lt(s1, v_set(3.0)), v_add(s1, v_set(3.0)), s1);
    vd s3 = v_div(v_div(v_set(1.0), s2), s2);
    vd s4 = v_sub(v_log(s2), v_add(v_div(v_set(0.5), s2), v_mul(s3, v_add(v_set(0.08333333333333333), v_mul(s3, v_add(v_set(-0.008333333333326249), v_mul(s3, v_add(v_set(0.0039682539650225555), v_mul(s3, v_add(v_set(-0.004166665973607018), v_mul(s3, v_add(v_set(0.0075756724560946615), v_mul(s3, v_add(v_set(-0.021086112703501383), v_mul(s3, v_add(v_set(0.08297320781752321), v_mul(s3, v_add(v_set(-0.42924285590009237), v_mul(s3, v_add(v_set(2.642664545171597), v_mul(s3, v_add(v_set(-16.95485413884146), v_mul(s3, v_add(v_set(99.01502284249092), v_mul(s3, v_add(v_set(-468.4619946159348), v_mul(s3, v_add(v_set(1610.7033569988114), v_mul(s3, v_add(v_set(-3495.9518061097615), v_mul(s3, v_set(3553.211879486964))))))))))))))))))))))))))))))));
    vd s5 = v_select(v_lt(s1, v_set(3.0)), v_add(v_div(v_set(1.0), s1), v_add(v_div(v_set(1.0), v_add(s1, v_set(1.0))), v_div(v_set(1.0), v_add(s1, v_set(2.0))))), v_set(0.0));
    vd s6 = v_floor(x);
    vd s7 = v_sub(x, s6);
    vd s8 = v_select(v_gt(s7, v_set(0.5)), v_add(s6, v_set(1.0)), s6);
    vd s9 = v_sub(x, s8);
    vd s11 = v_div(v_set(3.141592653589793), v_tan(v_mul(v_set(3.141592653589793), s9)));
    return v_add(v_select(v_lt(x, v_set(0.0)), v_sub(v_sub(s4, s5), s11), v_sub(s4, s5)), v_sqrt(v_select(vm_and(v_lt(x, v_set(0.0)), v_eq(s9, v_set(0.0))), v_set(-1.0), v_set(0.0))));
}

CALLED vd rgs_psi1(vd x) {
    vd s1 = v_select(v_lt(x, v_set(0.0)), v_sub(v_set(1.0), x), x);
    vd s2 = v_select(v_lt(s1, v_set(3.0)), v_add(s1, v_set(3.0)), s1);
    vd s3 = v_div(v_div(v_set(1.0), s2), s2);
    vd s4 = v_add(v_div(v_set(1.0), s2), v_add(v_mul(s3, v_set(0.5)), v_mul(v_div(s3, s2), v_add(v_set(0.1666666666666252), v_mul(s3, v_add(v_set(-0.033333333306163074), v_mul(s3, v_add(v_set(0.02380951756819962), v_mul(s3, v_add(v_set(-0.0333326071470089), v_mul(s3, v_add(v_set(0.07570725765292617), v_mul(s3, v_add(v_set(-0.2508362260021231), v_mul(s3, v_add(v_set(1.0950391341617933), v_mul(s3, v_add(v_set(-5.4453072434249945), v_mul(s3, v_add(v_set(25.738157938878427), v_mul(s3, v_add(v_set(-96.73059516862504), v_mul(s3, v_add(v_set(239.60250064676632), v_mul(s3, v_set(-282.86801373165054))))))))))))))))))))))))));
    vd s5 = v_div(v_set(1.0), v_add(s1, v_set(1.0)));
    vd s6 = v_div(v_set(1.0), v_add(s1, v_set(2.0)));
    vd s7 = v_select(v_lt(s1, v_set(3.0)), v_add(v_div(v_div(v_set(1.0), s1), s1), v_add(v_mul(s5, s5), v_mul(s6, s6))), v_set(0.0));
    vd s8 = v_floor(x);
    vd s9 = v_sub(x, s8);
    vd s10 = v_select(v_gt(s9, v_set(0.5)), v_add(s8, v_set(1.0)), s8);
    vd s11 = v_sub(x, s10);
    vd s13 = v_div(v_sin(v_mul(v_set(3.141592653589793), s11)), v_set(3.141592653589793));
    return v_select(v_lt(x, v_set(0.0)), v_sub(v_div(v_div(v_set(1.0), s13), s13), v_add(s4, s7)), v_add(s4, s7));
}

CALLED vd rgs_log_beta(vd x, vd y) {
    vd s1 = v_select(v_lt(x, y), x, y);
    vd s2 = v_select(v_lt(x, y), y, x);
    vd s3 = rgs_log_gamma(s1);
    vd s4 = v_sub(v_add(s3, rgs_log_gamma(s2)), rgs_log_gamma(v_add(s1, s2)));
    vd s5 = v_select(v_ge(s2, v_set(3.0)), s2, v_set(3.0));
    vd s6 = v_log1p(v_div(s1, s5));
    vd s7 = v_sub(rgs_stirling_rest(s5), rgs_stirling_rest(v_add(s5, s1)));
    vd s8 = v_add(s3, v_add(v_sub(v_sub(s1, v_mul(s1, v_log(v_add(s5, s1)))), v_mul(v_sub(s5, v_set(0.5)), s6)), s7));
    vd s9 = v_select(v_ge(s1, v_set(3.0)), s1, v_set(3.0));
    vd s10 = v_sub(v_sub(v_add(v_sub(v_set(0.9189385332046727), v_mul(v_set(0.5), v_log(s5))), v_add(s7, rgs_stirling_rest(s9))), v_mul(v_sub(s9, v_set(0.5)), v_log1p(v_div(s5, s9)))), v_mul(s5, s6));
    return v_add(v_select(v_ge(s1, v_set(3.0)), s10, v_select(v_ge(s2, v_set(3.0)), s8, s4)), v_sqrt(v_select(v_lt(s1, v_set(0.0)), v_set(-1.0), v_set(0.0))));
}

CALLED vd rgs_psi_drop(vd x, vd y) {
    vd s1 = v_select(vm_or(v_lt(x, v_set(0.0)), v_lt(y, v_set(0.0))), v_set(1.0), x);
    vd s2 = v_select(vm_or(v_lt(x, v_set(0.0)), v_lt(y, v_set(0.0))), v_set(1.0), y);
    vd s3 = v_select(v_lt(s1, v_set(3.0)), v_add(s1, v_set(3.0)), s1);
    vd s4 = v_add(s3, s2);
    vd s5 = v_div(v_div(v_set(1.0), s3), s3);
    vd s6 = v_div(v_div(v_set(1.0), s4), s4);
    vd s7 = v_add(v_mul(v_set(0.0), s5), v_set(0.0));
    vd s8 = v_add(v_mul(v_set(0.0), s6), v_set(3553.211879486964));
    vd s9 = v_add(v_mul(s7, s5), s8);
    vd s10 = v_add(v_mul(s8, s6), v_set(-3495.9518061097615));
    vd s11 = v_add(v_mul(s9, s5), s10);
    vd s12 = v_add(v_mul(s10, s6), v_set(1610.7033569988114));
    vd s13 = v_add(v_mul(s11, s5), s12);
    vd s14 = v_add(v_mul(s12, s6), v_set(-468.4619946159348));
    vd s15 = v_add(v_mul(s13, s5), s14);
    vd s16 = v_add(v_mul(s14, s6), v_set(99.01502284249092));
    vd s17 = v_add(v_mul(s15, s5), s16);
    vd s18 = v_add(v_mul(s16, s6), v_set(-16.95485413884146));
    vd s19 = v_add(v_mul(s17, s5), s18);
    vd s20 = v_add(v_mul(s18, s6), v_set(2.642664545171597));
    vd s21 = v_add(v_mul(s19, s5), s20);
    vd s22 = v_add(v_mul(s20, s6), v_set(-0.42924285590009237));
    vd s23 = v_add(v_mul(s21, s5), s22);
    vd s24 = v_add(v_mul(s22, s6), v_set(0.08297320781752321));
    vd s25 = v_add(v_mul(s23, s5), s24);
    vd s26 = v_add(v_mul(s24, s6), v_set(-0.021086112703501383));
    vd s27 = v_add(v_mul(s25, s5), s26);
    vd s28 = v_add(v_mul(s26, s6), v_set(0.0075756724560946615));
    vd s29 = v_add(v_mul(s27, s5), s28);
    vd s30 = v_add(v_mul(s28, s6), v_set(-0.004166665973607018));
    vd s31 = v_add(v_mul(s29, s5), s30);
    vd s32 = v_add(v_mul(s30, s6), v_set(0.0039682539650225555));
    vd s33 = v_add(v_mul(s31, s5), s32);
    vd s34 = v_add(v_mul(s32, s6), v_set(-0.008333333333326249));
    vd s35 = v_add(v_mul(s33, s5), s34);
    vd s36 = v_add(v_mul(s34, s6), v_set(0.08333333333333333));
    vd s37 = v_add(v_mul(s35, s5), s36);
    vd s39 = v_mul(v_div(v_div(s2, s3), s4), v_add(v_div(v_set(1.0), s3), v_div(v_set(1.0), s4)));
    vd s40 = v_add(v_log1p(v_div(s2, s3)), v_add(v_mul(v_set(0.5), v_div(v_div(s2, s3), s4)), v_mul(s39, s37)));
    vd s41 = v_add(v_div(v_div(s2, v_add(s1, s2)), s1), v_add(v_div(v_div(s2, v_add(v_add(s1, v_set(1.0)), s2)), v_add(s1, v_set(1.0))), v_div(v_div(s2, v_add(v_add(s1, v_set(2.0)), s2)), v_add(s1, v_set(2.0)))));
    return v_sub(v_sqrt(v_select(vm_or(v_lt(x, v_set(0.0)), v_lt(y, v_set(0.0))), v_set(-1.0), v_set(0.0))), v_select(v_lt(s1, v_set(3.0)), v_add(s40, s41), s40));
}

CALLED vd rgs_scaled_erfc(vd x) {
    vd s1 = v_select(v_lt(x, v_set(0.0)), v_neg(x), x);
    vd s2 = v_div(v_set(1.0), v_add(s1, v_set(4.0)));
    vd s3 = v_select(v_lt(s1, v_set(4.0)), s1, v_set(4.0));
    vd s4 = v_sub(v_div(s3, v_add(s3, v_set(4.0))), v_set(0.25));
    vd s5 = v_add(v_set(1.8727183681541615), v_mul(s4, v_add(v_set(-4.785577828049049), v_mul(s4, v_add(v_set(9.559392582162058), v_mul(s4, v_add(v_set(-15.174009935544312), v_mul(s4, v_add(v_set(19.097579916026433), v_mul(s4, v_add(v_set(-18.61824747050013), v_mul(s4, v_add(v_set(13.191791193506635), v_mul(s4, v_add(v_set(-5.550651042490978), v_mul(s4, v_add(v_set(-0.16105181312013625), v_mul(s4, v_add(v_set(1.8218229857811234), v_mul(s4, v_add(v_set(-0.7466777143185572), v_mul(s4, v_add(v_set(-0.3813201302208983), v_mul(s4, v_add(v_set(0.37554772184502394), v_mul(s4, v_add(v_set(0.07626392723571739), v_mul(s4, v_add(v_set(-0.1578086090138944), v_mul(s4, v_add(v_set(-0.023959768690646182), v_mul(s4, v_add(v_set(0.058508723886322375), v_mul(s4, v_set(0.017181883749847963)))))))))))))))))))))))))))))))))));
    vd s6 = v_sub(s2, v_set(0.0625));
    vd s7 = v_select(v_lt(s1, v_set(4.0)), s5, v_add(v_set(0.7496675362383002), v_mul(s6, v_add(v_set(3.889045195290259), v_mul(s6, v_add(v_set(19.041738270342357), v_mul(s6, v_add(v_set(87.50075386923187), v_mul(s6, v_add(v_set(374.5972583623846), v_mul(s6, v_add(v_set(1479.182979878352), v_mul(s6, v_add(v_set(5310.494244239181), v_mul(s6, v_add(v_set(16949.26195267777), v_mul(s6, v_add(v_set(46217.2829600494), v_mul(s6, v_add(v_set(98639.35116778898), v_mul(s6, v_add(v_set(120170.62379773009), v_mul(s6, v_add(v_set(-160078.86706069257), v_mul(s6, v_add(v_set(-1363473.6846086585), v_mul(s6, v_add(v_set(-3468981.065388892), v_mul(s6, v_add(v_set(-612184.0302384703), v_mul(s6, v_add(v_set(26734976.99225054), v_mul(s6, v_add(v_set(69891252.08395235), v_mul(s6, v_set(-41173936.025103316))))))))))))))))))))))))))))))))))));
    vd s8 = v_select(v_lt(x, v_set(0.0)), x, v_set(0.0));
    return v_select(v_lt(x, v_set(0.0)), v_sub(v_mul(v_set(2.0), v_exp(v_mul(s8, s8))), v_mul(s7, s2)), v_mul(s7, s2));
}

CALLED vd rgs_scaled_erfc_slope(vd x) {
    vd s1 = v_select(v_lt(x, v_set(0.0)), v_neg(x), x);
    vd s2 = v_div(v_set(1.0), v_add(s1, v_set(4.0)));
    vd s3 = v_select(v_lt(s1, v_set(4.0)), s1, v_set(4.0));
    vd s4 = v_sub(v_div(s3, v_add(s3, v_set(4.0))), v_set(0.25));
    vd s5 = v_add(v_set(5.461901739190949), v_mul(s4, v_add(v_set(-23.91024452934107), v_mul(s4, v_add(v_set(62.81970010145991), v_mul(s4, v_add(v_set(-117.98877949031228), v_mul(s4, v_add(v_set(165.30632759485968), v_mul(s4, v_add(v_set(-171.07254518455392), v_mul(s4, v_add(v_set(121.48345627812188), v_mul(s4, v_add(v_set(-43.438898189870905), v_mul(s4, v_add(v_set(-13.746768020800767), v_mul(s4, v_add(v_set(23.81834406886201), v_mul(s4, v_add(v_set(-5.067695999126156), v_mul(s4, v_add(v_set(-7.956543437579035), v_mul(s4, v_add(v_set(4.141416420136121), v_mul(s4, v_add(v_set(2.7354862132254016), v_mul(s4, v_add(v_set(-2.131775799106215), v_mul(s4, v_add(v_set(-1.164422982254858), v_mul(s4, v_add(v_set(0.9727088177920948), v_mul(s4, v_add(v_set(0.5401837952171403), v_mul(s4, v_set(-0.3667030084444053)))))))))))))))))))))))))))))))))))));
    vd s6 = v_sub(s2, v_set(0.0625));
    vd s7 = v_select(v_lt(s1, v_set(4.0)), s5, v_add(v_set(0.9927328609439414), v_mul(s6, v_add(v_set(10.158307674373274), v_mul(s6, v_add(v_set(73.53160616150656), v_mul(s6, v_add(v_set(443.6523300678422), v_mul(s6, v_add(v_set(2335.2309730332477), v_mul(s6, v_add(v_set(10866.53321995375), v_mul(s6, v_add(v_set(44588.76179024456), v_mul(s6, v_add(v_set(158702.73834357405), v_mul(s6, v_add(v_set(471440.21225752885), v_mul(s6, v_add(v_set(1061499.2126832763), v_mul(s6, v_add(v_set(1211800.4046714173), v_mul(s6, v_add(v_set(-2943139.4397978405), v_mul(s6, v_add(v_set(-20534199.06702509), v_mul(s6, v_add(v_set(-49206080.19381703), v_mul(s6, v_add(v_set(13513206.805896048), v_mul(s6, v_add(v_set(511904752.8916952), v_mul(s6, v_add(v_set(1462302291.379036), v_mul(s6, v_add(v_set(-1546082438.854987), v_mul(s6, v_set(-17764016609.631763))))))))))))))))))))))))))))))))))))));
    vd s8 = v_select(v_lt(x, v_set(0.0)), x, v_set(0.0));
    return v_sub(v_mul(v_set(4.0), v_mul(s8, v_exp(v_mul(s8, s8)))), v_mul(v_mul(s7, s2), s2));
}

CALLED vd rgs_inverse_erf_ratio(vd w) {
    vd s1 = v_sqrt(w);
    vd s2 = v_sub(w, v_set(3.125));
    vd s3 = v_add(v_set(1.6536545626831027), v_mul(s2, v_add(v_set(0.24015818242558834), v_mul(s2, v_add(v_set(-0.006033670871427191), v_mul(s2, v_add(v_set(-0.0007407025341546016), v_mul(s2, v_add(v_set(0.0001867342080211316), v_mul(s2, v_add(v_set(-1.388252339409359e-05), v_mul(s2, v_add(v_set(-1.3654691781283023e-06), v_mul(s2, v_add(v_set(4.2347881700814134e-07), v_mul(s2, v_add(v_set(-2.9070389199799928e-08), v_mul(s2, v_add(v_set(-4.112660572710345e-09), v_mul(s2, v_add(v_set(1.0512222201557254e-09), v_mul(s2, v_add(v_set(-5.414297365431998e-11), v_mul(s2, v_add(v_set(-1.2978391141409978e-11), v_mul(s2, v_add(v_set(2.6305104277733045e-12), v_mul(s2, v_add(v_set(-8.081770524714984e-14), v_mul(s2, v_add(v_set(-4.0017073210539774e-14), v_mul(s2, v_add(v_set(6.537026775434705e-15), v_mul(s2, v_add(v_set(-3.974784762543838e-17), v_mul(s2, v_add(v_set(-1.238149762974575e-16), v_mul(s2, v_add(v_set(1.5536101867210847e-17), v_mul(s2, v_add(v_set(7.189724658091624e-19), v_mul(s2, v_add(v_set(-3.48400869656548e-19), v_mul(s2, v_add(v_set(1.56805695962258e-20), v_mul(s2, v_add(v_set(3.213016550553282e-21), v_mul(s2, v_set(-2.862308604233905e-22)))))))))))))))))))))))))))))))))))))))))))))))));
    vd s4 = v_div(v_sub(s1, v_set(3.25)), v_add(s1, v_set(3.25)));
    vd s5 = v_add(v_set(3.0838856104922208), v_mul(s4, v_add(v_set(6.534183290012074), v_mul(s4, v_add(v_set(6.761104429899401), v_mul(s4, v_add(v_set(5.957849933219287), v_mul(s4, v_add(v_set(8.571799660432571), v_mul(s4, v_add(v_set(-0.5385692969257183), v_mul(s4, v_add(v_set(15.79234168842993), v_mul(s4, v_add(v_set(44.885655328254096), v_mul(s4, v_add(v_set(-175.40593926523422), v_mul(s4, v_add(v_set(37.13522987471468), v_mul(s4, v_add(v_set(1430.9868884735947), v_mul(s4, v_add(v_set(-2013.0941408311119), v_mul(s4, v_add(v_set(-8045.435515480994), v_mul(s4, v_add(v_set(19248.944141082095), v_mul(s4, v_add(v_set(37811.10347160475), v_mul(s4, v_add(v_set(-118689.54167228148), v_mul(s4, v_add(v_set(-163246.2938819879), v_mul(s4, v_add(v_set(510548.36611900793), v_mul(s4, v_add(v_set(638059.110355221), v_mul(s4, v_add(v_set(-1249269.2083950238), v_mul(s4, v_set(-1288345.5548329114)))))))))))))))))))))))))))))))))))))))));
    vd s6 = v_div(v_sub(s1, v_set(6.25)), v_add(s1, v_set(6.25)));
    vd s7 = v_add(v_set(6.11228428058907), v_mul(s6, v_add(v_set(12.617023798358808), v_mul(s6, v_add(v_set(12.53925537222941), v_mul(s6, v_add(v_set(12.413878942338947), v_mul(s6, v_add(v_set(12.62699867032663), v_mul(s6, v_add(v_set(12.361607001079152), v_mul(s6, v_add(v_set(12.641083155450684), v_mul(s6, v_add(v_set(12.373303857857923), v_mul(s6, v_add(v_set(12.606339917364787), v_mul(s6, v_add(v_set(12.420585327834461), v_mul(s6, v_add(v_set(12.565698052259563), v_mul(s6, v_add(v_set(12.392045126573734), v_mul(s6, v_add(v_set(13.833415778722289), v_mul(s6, v_add(v_set(-2.2878465545964692), v_mul(s6, v_add(v_set(73.09744631206799), v_mul(s6, v_add(v_set(-107.23985341437292), v_mul(s6, v_add(v_set(1591.0131042217822), v_mul(s6, v_add(v_set(-10688.641427399176), v_mul(s6, v_add(v_set(6982.529989658748), v_mul(s6, v_add(v_set(100390.91121626645), v_mul(s6, v_add(v_set(-118653.67229170044), v_mul(s6, v_set(-301734.4333484232)))))))))))))))))))))))))))))))))))))))))));
    vd s8 = v_div(v_sub(s1, v_set(16.0)), v_add(s1, v_set(16.0)));
    vd s9 = v_add(v_set(15.917016980290148), v_mul(s8, v_add(v_set(32.1037208660678), v_mul(s8, v_add(v_set(31.95829600897591), v_mul(s8, v_add(v_set(32.02127401858273), v_mul(s8, v_add(v_set(31.999197817501564), v_mul(s8, v_add(v_set(31.988734881754205), v_mul(s8, v_add(v_set(32.02315909887678), v_mul(s8, v_add(v_set(31.968788018018248), v_mul(s8, v_add(v_set(32.0389168055567), v_mul(s8, v_add(v_set(31.95579051242142), v_mul(s8, v_add(v_set(32.04883096772688), v_mul(s8, v_add(v_set(31.947956621404558), v_mul(s8, v_add(v_set(32.06115017991446), v_mul(s8, v_add(v_set(31.943908206842437), v_mul(s8, v_add(v_set(31.912708661957062), v_mul(s8, v_add(v_set(31.945160761992952), v_mul(s8, v_add(v_set(34.09424416349652), v_mul(s8, v_add(v_set(32.05276762101042), v_mul(s8, v_add(v_set(13.87522224424541), v_mul(s8, v_add(v_set(30.09032181790917), v_mul(s8, v_add(v_set(123.6971487451221), v_mul(s8, v_add(v_set(45.332800914798774), v_mul(s8, v_set(-162.8388954821027)))))))))))))))))))))))))))))))))))))))))))));
    return v_select(v_lt(w, v_set(6.25)), s3, v_select(v_lt(s1, v_set(4.25)), s5, v_select(v_lt(s1, v_set(9.0)), s7, s9)));
}

CALLED vd rgs_inverse_erf(vd x) {
    vd s1 = v_neg(v_log(v_mul(v_sub(v_set(1.0), x), v_add(v_set(1.0), x))));
    vd s2 = v_mul(x, rgs_inverse_erf_ratio(s1));
    return v_select(vm_or(v_le(x, v_set(-1.0)), v_ge(x, v_set(1.0))), v_div(x, v_sqrt(v_mul(v_sub(v_set(1.0), x), v_add(v_set(1.0), x)))), s2);
}

CALLED vd rgs_normal_quantile(vd x) {
    vd s1 = v_add(v_mul(v_mul(v_set(4.0), x), v_sub(v_set(1.0), x)), v_set(0.0));
    vd s2 = v_neg(v_log(s1));
    vd s3 = v_sub(v_mul(v_set(2.0), x), v_set(1.0));
    vd s4 = v_mul(v_mul(v_set(1.4142135623730951), s3), rgs_inverse_erf_ratio(s2));
    return v_select(vm_or(v_le(x, v_set(0.0)), v_ge(x, v_set(1.0))), v_div(s3, v_sqrt(s1)), s4);
}

CALLED vd rgs_sine_cardinal(vd x) {
    vd s1 = v_floor(x);
    vd s2 = v_sub(x, s1);
    vd s3 = v_select(v_gt(s2, v_set(0.5)), v_add(s1, v_set(1.0)), s1);
    vd s4 = v_sub(x, s3);
    vd s5 = v_sub(v_set(1.0), v_mul(v_set(2.0), v_sub(s3, v_mul(v_set(2.0), v_floor(v_mul(v_set(0.5), s3))))));
    return v_select(v_eq(x, v_set(0.0)), v_set(1.0), v_div(v_mul(s5, v_sin(v_mul(v_set(3.141592653589793), s4))), v_mul(v_set(3.141592653589793), x)));
}

CALLED vd rgs_sine_cardinal_slope(vd x) {
    vd s1 = v_select(vm_and(v_gt(x, v_set(-0.5)), v_lt(x, v_set(0.5))), x, v_set(0.0));
    vd s2 = v_select(vm_and(v_gt(x, v_set(-0.5)), v_lt(x, v_set(0.5))), v_set(1.0), x);
    vd s3 = v_floor(s2);
    vd s4 = v_sub(s2, s3);
    vd s5 = v_select(v_gt(s4, v_set(0.5)), v_add(s3, v_set(1.0)), s3);
    vd s6 = v_sub(s2, s5);
    vd s7 = v_sub(v_set(1.0), v_mul(v_set(2.0), v_sub(s5, v_mul(v_set(2.0), v_floor(v_mul(v_set(0.5), s5))))));
    vd s8 = v_div(v_mul(s7, v_sub(v_cos(v_mul(v_set(3.141592653589793), s6)), v_div(v_sin(v_mul(v_set(3.141592653589793), s6)), v_mul(v_set(3.141592653589793), s2)))), s2);
    return v_select(vm_and(v_gt(x, v_set(-0.5)), v_lt(x, v_set(0.5))), v_mul(s1, v_add(v_set(-3.289868133696453), v_mul(v_mul(s1, s1), v_add(v_set(3.2469697011333998), v_mul(v_mul(s1, s1), v_add(v_set(-1.144510944731456), v_mul(v_mul(s1, s1), v_add(v_set(0.209182782507498), v_mul(v_mul(s1, s1), v_add(v_set(-0.023460809767408428), v_mul(v_mul(s1, s1), v_add(v_set(0.0017811395176284051), v_mul(v_mul(s1, s1), v_add(v_set(-9.762520104261489e-05), v_mul(v_mul(s1, s1), v_add(v_set(3.914128191786299e-06), v_mul(v_mul(s1, s1), v_add(v_set(1.4091685677416858e-07), v_mul(v_mul(s1, s1), v_set(-2.2661101758424778e-07)))))))))))))))))))), s8);
}

CALLED vd rgs_cube_root(vd x) {
    vd s1 = v_select(v_lt(x, v_set(0.0)), v_neg(x), x);
    vd s2 = v_select(v_lt(s1, v_set(1e-280)), v_mul(s1, v_set(5.846006549323612e+48)), v_select(v_gt(s1, v_set(1e+280)), v_mul(s1, v_set(1.7105694144590052e-49)), s1));
    vd s3 = v_select(vm_and(v_gt(s1, v_set(0.0)), v_le(s1, v_set(1.7976931348623157e+308))), s2, v_set(1.0));
    vd s4 = v_exp(v_div(v_log(s3), v_set(3.0)));
    vd s5 = v_mul(s4, s4);
    vd s6 = v_mul(s4, v_set(134217729.0));
    vd s7 = v_sub(s6, v_sub(s6, s4));
    vd s8 = v_sub(s4, s7);
    vd s9 = v_mul(s4, v_set(134217729.0));
    vd s10 = v_sub(s9, v_sub(s9, s4));
    vd s11 = v_sub(s4, s10);
    vd s12 = v_add(v_add(v_add(v_sub(v_mul(s7, s10), s5), v_mul(s7, s11)), v_mul(s8, s10)), v_mul(s8, s11));
    vd s13 = v_mul(s5, s4);
    vd s14 = v_mul(s5, v_set(134217729.0));
    vd s15 = v_sub(s14, v_sub(s14, s5));
    vd s16 = v_sub(s5, s15);
    vd s17 = v_mul(s4, v_set(134217729.0));
    vd s18 = v_sub(s17, v_sub(s17, s4));
    vd s19 = v_sub(s4, s18);
    vd s20 = v_add(v_add(v_add(v_sub(v_mul(s15, s18), s13), v_mul(s15, s19)), v_mul(s16, s18)), v_mul(s16, s19));
    vd s21 = v_add(s4, v_div(v_sub(v_sub(s3, s13), v_add(s20, v_mul(s12, s4))), v_mul(v_set(3.0), s5)));
    vd s22 = v_select(v_lt(s1, v_set(1e-280)), v_mul(s21, v_set(5.551115123125783e-17)), v_select(v_gt(s1, v_set(1e+280)), v_mul(s21, v_set(1.8014398509481984e+16)), s21));
    return v_select(vm_and(v_gt(s1, v_set(0.0)), v_le(s1, v_set(1.7976931348623157e+308))), v_select(v_lt(x, v_set(0.0)), v_neg(s22), s22), x);
}

CALLED vd rgs_growth_gap(vd x) {
    vd s1 = v_select(vm_and(v_gt(x, v_set(-1.0)), v_lt(x, v_set(1.0))), x, v_set(0.0));
    vd s2 = v_select(vm_and(v_gt(x, v_set(-1.0)), v_lt(x, v_set(1.0))), v_set(1.0), v_select(v_lt(x, v_set(-800.0)), v_set(-800.0), x));
    return v_select(vm_and(v_gt(x, v_set(-1.0)), v_lt(x, v_set(1.0))), v_neg(v_mul(v_mul(s1, s1), v_add(v_set(0.5), v_mul(s1, v_add(v_set(0.3333333333333333), v_mul(s1, v_add(v_set(0.125), v_mul(s1, v_add(v_set(0.0333333333333338), v_mul(s1, v_add(v_set(0.0069444444444444475), v_mul(s1, v_add(v_set(0.0011904761904722111), v_mul(s1, v_add(v_set(0.00017361111111106515), v_mul(s1, v_add(v_set(2.2045855395432458e-05), v_mul(s1, v_add(v_set(2.480158730412935e-06), v_mul(s1, v_add(v_set(2.505210482565283e-07), v_mul(s1, v_add(v_set(2.2964431998892602e-08), v_mul(s1, v_add(v_set(1.927128334908737e-09), v_mul(s1, v_add(v_set(1.4912067386735584e-10), v_mul(s1, v_add(v_set(1.0678764164804531e-11), v_mul(s1, v_add(v_set(7.162067501946182e-13), v_mul(s1, v_add(v_set(5.221003063740779e-14), v_mul(s1, v_set(2.873351933568687e-15))))))))))))))))))))))))))))))))))), v_sub(v_mul(v_exp(s2), v_sub(v_set(1.0), s2)), v_set(1.0)));
}

CALLED vd rgs_gated_by_softplus(vd x) {
    vd s1 = v_exp(v_select(v_lt(x, v_set(0.0)), v_select(v_lt(x, v_set(-600.0)), v_add(x, v_set(300.0)), x), v_neg(x)));
    vd s2 = v_select(v_lt(x, v_set(-600.0)), v_set(0.0), s1);
    vd s3 = v_mul(s2, s2);
    vd s4 = v_select(v_lt(x, v_set(0.0)), v_add(s3, v_add(v_mul(v_set(2.0), s2), v_set(2.0))), v_add(v_set(1.0), v_add(v_mul(v_set(2.0), s2), v_mul(v_set(2.0), s3))));
    vd s5 = v_div(v_select(v_lt(x, v_set(0.0)), v_add(s2, v_set(2.0)), v_add(v_set(1.0), v_mul(v_set(2.0), s2))), s4);
    vd s7 = v_select(v_lt(x, v_set(0.0)), s1, v_set(1.0));
    vd s8 = v_select(v_lt(x, v_set(-600.0)), v_set(5.148200222412013e-131), v_set(1.0));
    return v_mul(v_mul(v_mul(x, s5), s7), s8);
}

CALLED vd rgs_gated_by_softplus_slope(vd x) {
    vd s1 = v_exp(v_select(v_lt(x, v_set(0.0)), v_select(v_lt(x, v_set(-600.0)), v_add(x, v_set(300.0)), x), v_neg(x)));
    vd s2 = v_select(v_lt(x, v_set(-600.0)), v_set(0.0), s1);
    vd s3 = v_mul(s2, s2);
    vd s4 = v_select(v_lt(x, v_set(0.0)), v_add(s3, v_add(v_mul(v_set(2.0), s2), v_set(2.0))), v_add(v_set(1.0), v_add(v_mul(v_set(2.0), s2), v_mul(v_set(2.0), s3))));
    vd s5 = v_div(v_select(v_lt(x, v_set(0.0)), v_add(s2, v_set(2.0)), v_add(v_set(1.0), v_mul(v_set(2.0), s2))), s4);
    vd s6 = v_div(v_div(v_mul(v_select(v_lt(x, v_set(0.0)), v_set(4.0), v_mul(v_set(4.0), s3)), v_add(v_set(1.0), s2)), s4), s4);
    vd s7 = v_select(v_lt(x, v_set(0.0)), s1, v_set(1.0));
    vd s8 = v_select(v_lt(x, v_set(-600.0)), v_set(5.148200222412013e-131), v_set(1.0));
    return v_mul(v_mul(v_add(s5, v_mul(x, s6)), s7), s8);
}

SIMD vd rgv_add(vd x, vd y) { return v_add(x, y); }
SIMD vd rgv_sub(vd x, vd y) { return v_sub(x, y); }
SIMD vd rgv_mul(vd x, vd y) { return v_mul(x, y); }
SIMD vd rgv_div(vd x, vd y) { return v_div(x, y); }
SIMD vd rgv_neg(vd x) { return v_neg(x); }
SIMD vd rgv_pow(vd x, vd y) { return v_pow(x, y); }
SIMD vd rgv_square(vd x) { return v_mul(x, x); }
SIMD vd rgv_reciprocal(vd x) { return v_div(v_set(1.0), x); }
SIMD vd rgv_exp(vd x) { return v_exp(x); }
SIMD vd rgv_expm1(vd x) { return v_expm1(x); }
SIMD vd rgv_log(vd x) { return v_log(x); }
SIMD vd rgv_log1p(vd x) { return v_log1p(x); }
SIMD vd rgv_exp2(vd x) { return v_pow(v_set(2.0), x); }
SIMD vd rgv_log2(vd x) { return v_log2(x); }
SIMD vd rgv_log10(vd x) { return v_log10(x); }
SIMD vd rgv_sqrt(vd x) { return v_sqrt(x); }
SIMD vd rgv_rsqrt(vd x) { return v_div(v_set(1.0), v_sqrt(x)); }
SIMD vd rgv_cbrt(vd x) { return rgs_cube_root(x); }
SIMD vd rgv_xlogy(vd x, vd y) { return v_select(vm_and(v_eq(x, v_set(0.0)), v_eq(y, y)), v_set(0.0), v_mul(x, v_log(y))); }
SIMD vd rgv_logit(vd x) { return v_log(v_div(x, v_sub(v_set(1.0), x))); }
SIMD vd rgv_sech2(vd x) { return v_sech2(x); }
SIMD vd rgv_tanh(vd x) { return v_tanh(x); }
SIMD vd rgv_sigmoid(vd x) { return v_sigmoid(x); }
SIMD vd rgv_relu(vd x) { return v_select(v_le(x, v_set(0.0)), v_set(0.0), x); }
SIMD vd rgv_leaky_relu(vd x, vd slope) { return v_select(v_le(x, v_set(0.0)), v_mul(slope, x), x); }
SIMD vd rgv_softplus(vd x) { return v_add(v_select(v_le(x, v_set(0.0)), v_set(0.0), x), v_log1p(v_exp(v_neg(v_abs(x))))); }
SIMD vd rgv_silu(vd x) { return v_silu(x); }
SIMD vd rgv_logsigmoid(vd x) { return v_sub(v_select(v_lt(x, v_set(0.0)), x, v_set(0.0)), v_log1p(v_exp(v_neg(v_abs(x))))); }
SIMD vd rgv_logaddexp(vd x, vd y) { return v_select(v_eq(x, y), v_add(x, v_set(0.6931471805599453)), v_add(v_select(v_gt(x, y), x, y), v_log1p(v_exp(v_neg(v_abs(v_sub(x, y))))))); }
SIMD vd rgv_elu(vd x, vd alpha) { return v_select(v_gt(x, v_set(0.0)), x, v_mul(alpha, v_expm1(x))); }
SIMD vd rgv_celu(vd x, vd alpha) { return v_select(vm_or(v_gt(x, v_set(0.0)), v_lt(v_abs(v_div(x, alpha)), v_set(1e-290))), x, v_mul(alpha, v_expm1(v_div(x, alpha)))); }
SIMD vd rgv_selu(vd x) { return v_mul(v_set(1.0507009873554805), v_select(v_gt(x, v_set(0.0)), x, v_mul(v_set(1.6732632423543772), v_expm1(x)))); }
SIMD vd rgv_mish(vd x) { return rgs_gated_by_softplus(x); }
SIMD vd rgv_softsign(vd x) { return v_div(x, v_add(v_set(1.0), v_abs(x))); }
SIMD vd rgv_relu6(vd x) { return v_select(v_le(x, v_set(0.0)), v_set(0.0), v_select(v_ge(x, v_set(6.0)), v_set(6.0), x)); }
SIMD vd rgv_hardtanh(vd x, vd low, vd high) { return v_select(vm_or(v_ge(x, high), v_ne(high, high)), high, v_select(vm_or(v_le(x, low), v_ne(low, low)), low, x)); }
SIMD vd rgv_hardswish(vd x) { return v_select(v_le(x, v_set(-3.0)), v_set(0.0), v_select(v_ge(x, v_set(3.0)), x, v_div(v_mul(x, v_add(x, v_set(3.0))), v_set(6.0)))); }
SIMD vd rgv_sin(vd x) { return v_sin(x); }
SIMD vd rgv_cos(vd x) { return v_cos(x); }
SIMD vd rgv_tan(vd x) { return v_tan(x); }
SIMD vd rgv_asin(vd x) { return v_asin(x); }
SIMD vd rgv_acos(vd x) { return v_acos(x); }
SIMD vd rgv_atan(vd x) { return v_atan(x); }
SIMD vd rgv_atan2(vd y, vd x) { return v_atan2(y, x); }
SIMD vd rgv_sinh(vd x) { return v_sinh(x); }
SIMD vd rgv_cosh(vd x) { return v_cosh(x); }
SIMD vd rgv_asinh(vd x) { return v_asinh(x); }
SIMD vd rgv_acosh(vd x) { return v_acosh(x); }
SIMD vd rgv_atanh(vd x) { return v_atanh(x); }
SIMD vd rgv_hypot(vd x, vd y) { return v_hypot(x, y); }
SIMD vd rgv_sinc(vd x) { return rgs_sine_cardinal(x); }
SIMD vd rgv_sign(vd x) { return v_select(v_gt(x, v_set(0.0)), v_set(1.0), v_select(v_lt(x, v_set(0.0)), v_set(-1.0), x)); }
SIMD vd rgv_abs(vd x) { return v_abs(x); }
SIMD vd rgv_floor(vd x) { return v_floor(x); }
SIMD vd rgv_ceil(vd x) { return v_neg(v_floor(v_neg(x))); }
SIMD vd rgv_trunc(vd x) { return v_select(v_lt(x, v_set(0.0)), v_neg(v_floor(v_neg(x))), v_floor(x)); }
SIMD vd rgv_round(vd x) { return v_select(vm_and(v_lt(v_abs(x), v_set(4503599627370496.0)), v_ne(x, v_set(0.0))), v_select(v_lt(x, v_set(0.0)), v_neg(v_select(v_lt(v_sub(v_abs(x), v_floor(v_abs(x))), v_set(0.5)), v_floor(v_abs(x)), v_select(v_gt(v_sub(v_abs(x), v_floor(v_abs(x))), v_set(0.5)), v_add(v_floor(v_abs(x)), v_set(1.0)), v_add(v_floor(v_abs(x)), v_sub(v_floor(v_abs(x)), v_mul(v_set(2.0), v_floor(v_mul(v_set(0.5), v_floor(v_abs(x)))))))))), v_select(v_lt(v_sub(v_abs(x), v_floor(v_abs(x))), v_set(0.5)), v_floor(v_abs(x)), v_select(v_gt(v_sub(v_abs(x), v_floor(v_abs(x))), v_set(0.5)), v_add(v_floor(v_abs(x)), v_set(1.0)), v_add(v_floor(v_abs(x)), v_sub(v_floor(v_abs(x)), v_mul(v_set(2.0), v_floor(v_mul(v_set(0.5), v_floor(v_abs(x)))))))))), x); }
SIMD vd rgv_fmod(vd x, vd y) { return v_fmod(x, y); }
SIMD vd rgv_remainder(vd x, vd y) { return v_select(vm_or(vm_and(v_lt(v_fmod(x, y), v_set(0.0)), v_gt(y, v_set(0.0))), vm_and(v_gt(v_fmod(x, y), v_set(0.0)), v_lt(y, v_set(0.0)))), v_add(v_fmod(x, y), y), v_fmod(x, y)); }
SIMD vd rgv_maximum(vd x, vd y) { return v_select(vm_or(v_ge(x, y), v_ne(x, x)), x, y); }
SIMD vd rgv_minimum(vd x, vd y) { return v_select(vm_or(v_le(x, y), v_ne(x, x)), x, y); }
SIMD vd rgv_clip(vd x, vd low, vd high) { return v_select(vm_or(v_gt(v_select(vm_or(v_lt(x, low), v_ne(low, low)), low, x), high), v_ne(high, high)), high, v_select(vm_or(v_lt(x, low), v_ne(low, low)), low, x)); }
SIMD vd rgv_where(vd condition, vd x, vd y) { return v_select(v_ne(condition, v_set(0.0)), x, y); }
SIMD vd rgv_less(vd x, vd y) { return v_select(v_lt(x, y), v_set(1.0), v_set(0.0)); }
SIMD vd rgv_less_equal(vd x, vd y) { return v_select(v_le(x, y), v_set(1.0), v_set(0.0)); }
SIMD vd rgv_equal(vd x, vd y) { return v_select(v_eq(x, y), v_set(1.0), v_set(0.0)); }
SIMD vd rgv_gauss(vd x) { return v_gauss(x); }
SIMD vd rgv_norm_pdf(vd x) { return v_norm_pdf(x); }
SIMD vd rgv_erf(vd x) { return v_erf(x); }
SIMD vd rgv_erfc(vd x) { return v_erfc(x); }
SIMD vd rgv_norm_cdf(vd x) { return v_norm_cdf(x); }
SIMD vd rgv_gelu(vd x) { return v_gelu(x); }
SIMD vd rgv_erfcx(vd x) { return rgs_scaled_erfc(x); }
SIMD vd rgv_log_ndtr(vd x) { return v_select(v_lt(x, v_set(0.0)), v_sub(v_log(v_mul(v_set(0.5), rgv_erfcx(v_neg(v_mul(x, v_set(0.7071067811865476)))))), v_mul(v_set(0.5), v_mul(x, x))), v_log1p(v_neg(v_mul(v_set(0.5), v_erfc(v_mul(x, v_set(0.7071067811865476))))))); }
SIMD vd rgv_erfinv(vd x) { return rgs_inverse_erf(x); }
SIMD vd rgv_ndtri(vd x) { return rgs_normal_quantile(x); }
SIMD vd rgv_trigamma(vd x) { return rgs_psi1(x); }
SIMD vd rgv_digamma(vd x) { return rgs_psi(x); }
SIMD vd rgv_lgamma(vd x) { return rgs_log_gamma(x); }
SIMD vd rgv_betaln(vd x, vd y) { return rgs_log_beta(x, y); }

#endif
