// Where the changes of dmapool.cocci have to be. One match a rule.
// PLACE 4
@@
@@
 dma_pool_create(...)
 {
*	return pool_new(...);
 }
@@
identifier pool;
@@
 pool_new(...)
 {
 	<+...
*	pool->node = node;
 	...+>
 }
@@
expression list ES;
identifier pool, page;
@@
 pool_alloc_page(struct dma_pool *pool, ...)
 {
 	... when any
*	page = kmalloc_node(ES, pool->node);
 	... when any
 }
@@
@@
 pool_count(...)
 {
 	<+...
*	stats->blocks = ...;
 	...+>
 }
