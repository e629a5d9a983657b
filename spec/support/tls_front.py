"""TLS before a server: tls_front.py PORT_FILE CERTIFICATE KEY PORT. Offers HTTP/2 too, and then breaks off."""
import asyncio
import os
import ssl
import sys

port_file, certificate, key, target = sys.argv[1:]


async def copy(reader, writer):
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        else:
            writer.close()
    except OSError:
        writer.close()


async def serve(reader, writer):
    if writer.get_extra_info("ssl_object").selected_alpn_protocol() == "h2":
        writer.close()
        return
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", int(target))
    await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
    far_writer.close()


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2", "http/1.1"])
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    with open(port_file + ".new", "w") as file:
        file.write("%d\n" % server.sockets[0].getsockname()[1])
    os.rename(port_file + ".new", port_file)
    await server.serve_forever()


asyncio.run(main())
