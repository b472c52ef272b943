"""One simulation on several cores: the SMs are divided among workers, whose results are those of one."""
