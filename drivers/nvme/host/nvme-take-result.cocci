// NVMe core: split nvme_try_complete_req() into taking over what the completion
// queue entry says and handing the request to blk-mq, so that the PCI driver can
// do the first alone.
//
// EXPECT drivers/nvme/host/nvme.h 1 static inline bool nvme_take_result(
// EXPECT drivers/nvme/host/nvme.h 1 return nvme_take_result(

@split@
identifier req;
@@
-nvme_try_complete_req
+nvme_take_result
 (struct request *req, ...)
 {
 	...
-	return blk_mq_complete_request_remote(req);
+	return false;
 }

@rest@
typedef bool, __le16;
@@
+/* True if somebody else completes the request, or nobody for the time being. */
+static inline bool nvme_try_complete_req(struct request *req, __le16 status, union nvme_result res)
+{
+	return nvme_take_result(req, status, res) || blk_mq_complete_request_remote(req);
+}
+
 nvme_get_ctrl(...)
 {
 	...
 }
