"""One page with sliders: what each epsilon, delta and number of records would buy, computed beforehand."""
