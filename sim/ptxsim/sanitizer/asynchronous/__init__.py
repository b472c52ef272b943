"""The checks of asynchronous code: operations in flight, proxies, mbarriers, tensor memory, registers of products."""
