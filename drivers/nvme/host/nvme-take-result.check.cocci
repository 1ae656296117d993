// Where the calls of nvme-take-result.cocci have to be. One match a rule.
// PLACE 2
@@
@@
 nvme_take_result(...)
 {
 	...
 	if (unlikely(blk_should_fake_timeout(...)))
 		return true;
*	return false;
 }
@@
@@
 nvme_try_complete_req(...)
 {
*	return nvme_take_result(...) || blk_mq_complete_request_remote(...);
 }
