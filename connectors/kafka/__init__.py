"""The block transport: Kafka under Faust with nothing lost and little paid per record.

consumer -> Block -> an agent -> Writes -> transport -> producer and tables. Only the transport
writes, acknowledges or exits.
"""
