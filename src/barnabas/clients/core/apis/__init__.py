"""One module per group of related APIs: builds requests and reads responses, without IO.

The counterpart of `barnabas.broker.handlers` on the client side. The group consumer, the simple
consumer, the ZooKeeper consumer and the admin client use these modules.
"""
