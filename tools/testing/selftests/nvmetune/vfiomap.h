/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The parts of the kernel's headers linux/iommufd.h and linux/vfio.h that vfiomap.c uses
 * and Debian 12 does not have.
 */
#ifndef VFIOMAP_H
#define VFIOMAP_H

#include <linux/vfio.h>

#if __has_include(<linux/iommufd.h>)
#include <linux/iommufd.h>
#else
#define IOMMU_IOAS_ALLOC	_IO(';', 0x81)
#define IOMMU_IOAS_MAP		_IO(';', 0x85)
#define IOMMU_IOAS_UNMAP	_IO(';', 0x86)
#define IOMMU_HWPT_ALLOC	_IO(';', 0x89)

struct iommu_ioas_alloc {
	__u32 size;
	__u32 flags;
	__u32 out_ioas_id;
};

enum {
	IOMMU_IOAS_MAP_FIXED_IOVA	= 1 << 0,
	IOMMU_IOAS_MAP_WRITEABLE	= 1 << 1,
	IOMMU_IOAS_MAP_READABLE		= 1 << 2,
};

struct iommu_ioas_map {
	__u32 size;
	__u32 flags;
	__u32 ioas_id;
	__u32 __reserved;
	__aligned_u64 user_va;
	__aligned_u64 length;
	__aligned_u64 iova;
};

struct iommu_ioas_unmap {
	__u32 size;
	__u32 ioas_id;
	__aligned_u64 iova;
	__aligned_u64 length;
};

struct iommu_hwpt_alloc {
	__u32 size;
	__u32 flags;
	__u32 dev_id;
	__u32 pt_id;
	__u32 out_hwpt_id;
	__u32 __reserved;
	__u32 data_type;
	__u32 data_len;
	__aligned_u64 data_uptr;
};
#endif

#ifndef VFIO_DEVICE_BIND_IOMMUFD
#define VFIO_DEVICE_BIND_IOMMUFD	_IO(VFIO_TYPE, VFIO_BASE + 18)
#define VFIO_DEVICE_ATTACH_IOMMUFD_PT	_IO(VFIO_TYPE, VFIO_BASE + 19)

struct vfio_device_bind_iommufd {
	__u32 argsz;
	__u32 flags;
	__s32 iommufd;
	__u32 out_devid;
};

struct vfio_device_attach_iommufd_pt {
	__u32 argsz;
	__u32 flags;
	__u32 pt_id;
};
#endif

#endif
