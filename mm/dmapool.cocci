// DMA pools: what they are administered with goes to a node of choice, and what they
// hold can be read. dma_pool_create() stays what it was, and exported.
//
// PROVIDED include/linux/dmapool.h dma_pool_create_node(
// EXPECT include/linux/dmapool.h 1 #include <linux/dmapool_node.h>
// EXPECT mm/dmapool.c 1 #include "dmapool_node.h"
// EXPECT mm/dmapool.c 1 int node;
// EXPECT mm/dmapool.c 1 pool_new(name, dev, size, align, boundary, NUMA_NO_NODE);
// EXPECT mm/dmapool.c 1 pool_new(const char *name,
// EXPECT mm/dmapool.c 1 ->node = node;
// EXPECT mm/dmapool.c 1 alloc_node(sizeof(*retval), GFP_KERNEL, node);
// EXPECT mm/dmapool.c 1 kmalloc_node(sizeof(*page), mem_flags, pool->node);
// EXPECT mm/dmapool.c 1 static void pool_count(

@header@
@@
 #include <linux/scatterlist.h>
+#include <linux/dmapool_node.h>

@member@
@@
 struct dma_pool {
 	...
 	struct device *dev;
+	int node;
 	...
 };

// Where the structures are known and nothing of ours is used yet.
@glue depends on member@
@@
+#include "dmapool_node.h"
+
 pools_show(...)
 {
 	...
 }

// Comes again behind the function of that name.
@export depends on member@
declarer name EXPORT_SYMBOL;
@@
-EXPORT_SYMBOL(dma_pool_create);

// The old name keeps its kernel-doc, which is a comment and not to be seen here.
@create depends on export@
declarer name EXPORT_SYMBOL;
identifier pool;
expression list ES;
@@
 struct dma_pool *dma_pool_create(const char *name, struct device *dev, size_t size, size_t align, size_t boundary
-)
+)
+{
+	return pool_new(name, dev, size, align, boundary, NUMA_NO_NODE);
+}
+EXPORT_SYMBOL(dma_pool_create);
+
+static struct dma_pool *
+pool_new(const char *name, struct device *dev, size_t size, size_t align, size_t boundary, int node)
 {
 	... when any
(
-	pool = kzalloc(ES);
+	pool = kzalloc_node(ES, node);
|
-	pool = kmalloc(ES);
+	pool = kmalloc_node(ES, node);
)
 	... when any
 	pool->dev = dev;
+	pool->node = node;
 	... when any
 }

@page depends on create@
identifier pool, page;
expression list ES;
@@
 pool_alloc_page(struct dma_pool *pool, ...)
 {
 	... when any
-	page = kmalloc(ES);
+	page = kmalloc_node(ES, pool->node);
 	... when any
 }

@counted@
@@
 struct dma_pool {
 	...
 	size_t nr_active;
 	...
 };

@count depends on counted@
@@
+static void pool_count(struct dma_pool *pool, struct dma_pool_stats *stats)
+{
+	stats->blocks = pool->nr_blocks;
+	stats->active = pool->nr_active;
+	stats->pages = pool->nr_pages;
+}
+
 dmam_pool_release(...)
 { ... }

// Until 6.3 only pages are counted in: as the device's file "pools" adds them up.
@sum depends on !counted@
iterator name list_for_each_entry;
@@
+static void pool_count(struct dma_pool *pool, struct dma_pool_stats *stats)
+{
+	struct dma_page *page;
+
+	stats->pages = 0;
+	stats->active = 0;
+	list_for_each_entry(page, &pool->page_list, page_list) {
+		stats->pages++;
+		stats->active += page->in_use;
+	}
+	stats->blocks = stats->pages * (pool->allocation / pool->size);
+}
+
 dmam_pool_release(...)
 { ... }
